# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a comparison: compare.html, and the same as CSV, LaTeX, Markdown and text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from lab.base.errors import UserError
from lab.base.plain_file import write_whole
from lab.base.processes import map_in_processes
from lab.evaluation.compare import record
from lab.evaluation.compare.campaign import State, looks_of
from lab.evaluation.compare.comparison import Comparison
from lab.evaluation.compare.results import LinkResult, digest_of
from lab.judge.judged import OUTCOMES
from lab.report import text
from lab.report.compare import page
from lab.report.compare.cells import REPORT, compared, labels
from lab.report.compare.forms import NARROW, ranks, ranks_table, trials
from lab.report.compare.scorecard import scorecard
from lab.report.compare.worst import Explained, explain, worst_trials
from lab.report.table import Table
from lab.report.table_files import table_files
from lab.report.write import write_report
from lab.tables.csv_text import to_csv

PAGE = "compare.html"
MOST_PICTURES = 12  # each takes some 100 kB of the page
QUICK_PICTURES = 3  # each takes a second of a first answer


@dataclass(frozen=True)
class Written:
    """What a terminal shows of it, and where its parts lie."""

    headline: Sequence[str]
    table: Table
    narrow: Table  # fewer measures
    digest: str
    files: Mapping[str, Path]

    def shown(self, width: int) -> RenderableType:
        """Return sentences and ranks as a console of that width prints them."""
        table = self.narrow if width < text.NARROW_CHARS else self.table
        return text.shown((*self.headline, f"Digest of the results: {self.digest}"), (table,), width)


def write(
    folder: Path, comparison: Comparison, measure: str, found: Sequence[LinkResult], state: State, reports: bool
) -> Written:
    """Write every form; reports: the cells open the report of each link's run, which write_reports writes."""
    table, digest = ranks_table(comparison, found, measure), digest_of(found)
    contents = _contents(comparison, found, table)
    shown = _page(folder, comparison, measure, found, state, (*contents,), digest, reports)
    headline = [f"{sentence.link} {sentence.text}" for sentence in shown.sentences]
    contents[PAGE] = page.render(shown)
    contents["ranks.txt"] = text.render(headline, (table,))
    written = {name: write_whole(folder / name, content) for name, content in contents.items()}
    files = {"page": written[PAGE], "ranks": written["ranks.csv"], "trials": written["trials.csv"]}
    return Written(headline, table, ranks_table(comparison, found, measure, NARROW), digest, files)


def write_reports(found: Sequence[LinkResult]) -> list[str]:
    """Write the report of each run that has none as new as its trials; return a line for each that fails."""
    runs = [each.stored.run.path.resolve() for each in found if each.stored]
    return [fault for fault in map_in_processes(_report, [run for run in runs if _is_old(run)]) if fault]


def _is_old(run: Path) -> bool:
    report, made_from = run / REPORT, run / OUTCOMES
    return not (report.exists() and made_from.exists() and report.stat().st_mtime >= made_from.stat().st_mtime)


def _contents(comparison: Comparison, found: Sequence[LinkResult], table: Table) -> dict[str, str]:
    """Return the files of numbers by name."""
    return {
        **{name: content for name, content in table_files(table).items() if not name.endswith(".csv")},
        "ranks.csv": to_csv(ranks(comparison, found), float_precision=6),
        "trials.csv": to_csv(trials(found), float_precision=6),
    }


def _report(run: Path) -> str | None:
    try:
        write_report(run, None)
    except UserError as error:
        return str(error)
    return None


def _page(
    folder: Path,
    comparison: Comparison,
    measure: str,
    found: Sequence[LinkResult],
    state: State,
    files: Sequence[str],
    digest: str,
    reports: bool,
) -> page.Page:
    ranked = compared(comparison, found, folder, measure, reports)
    pages = {row.found.link.name: row.page for row in ranked.rows}
    return page.Page(
        title=page.title(comparison),
        began=folder.name,
        complete=state.decided or not state.budget_used,
        digest=digest,
        subjects=" or ".join(labels(comparison)[name] for name in comparison.subjects),
        sentences=page.sentences(comparison, found, measure),
        notes=list(page.notes(found, state)),
        matrix=ranked,
        worst=_explained(comparison, measure, found, pages, MOST_PICTURES if reports else QUICK_PICTURES),
        pairs=page.pairs_table(comparison, found),
        scorecard=scorecard(comparison, found),
        method=page.method(comparison, looks_of(comparison), measure),
        facts=page.facts(comparison, found, record.read(folder)["command"]),
        files=[*files, "ranks.txt"],
    )


def _explained(
    comparison: Comparison, measure: str, found: Sequence[LinkResult], pages: Mapping[str, str | None], most: int
) -> list[Explained]:
    worst = worst_trials(found, comparison.subjects, measure)[:most]
    shown = (explain(each, labels(comparison), pages[each.found.link.name] or "") for each in worst)
    return [each for each in shown if each]
