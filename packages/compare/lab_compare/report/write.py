# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a comparison: compare.html, and the same as CSV, LaTeX, Markdown and text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lab.base.errors import UserError
from lab.base.plain_file import write_whole
from lab.base.workers import each_in_processes, map_in_processes
from lab.judge.judged import OUTCOMES
from lab.report import report_files, template, text
from lab.report.table import Table
from lab.report.table_files import table_files
from lab.report.template import Picture
from lab.report.write import write_report
from lab.tables.csv_text import to_csv
from lab_compare import record
from lab_compare.comparison import Comparison
from lab_compare.growing import State, looks_of
from lab_compare.report import page
from lab_compare.report.cells import compared, labels
from lab_compare.report.forms import ranks, trials
from lab_compare.report.ranked import ranked
from lab_compare.report.scorecard import scorecard
from lab_compare.report.sentences import sentences
from lab_compare.report.worst import Explained, Worst, worst_trials
from lab_compare.results import LinkResult

HERE = Path(__file__).parent
PAGE = "compare.html"
MOST_PICTURES = 12  # each takes some 100 kB of the page
Watched = Callable[[Iterable[str | None], int], Iterable[str | None]]  # sees each report when it is written
QUICK_PICTURES = 3  # each takes a second of a first answer


def write(
    folder: Path, comparison: Comparison, measure: str, found: Sequence[LinkResult], state: State, reports: bool
) -> dict[str, Path]:
    """Write every form, and return where they lie; reports: the cells open those that write_reports writes."""
    answer = ranked(comparison, measure, found)
    contents = _contents(comparison, found, answer.table)
    contents[PAGE] = _page(folder, comparison, measure, found, state, (*contents,), answer.digest, reports)
    contents["ranks.txt"] = text.render(answer.headline, (answer.table,))
    written = {name: write_whole(folder / name, content) for name, content in contents.items()}
    return {"page": written[PAGE], "ranks": written["ranks.csv"], "trials": written["trials.csv"]}


def write_reports(found: Sequence[LinkResult], watched: Watched = lambda faults, _count: faults) -> list[str]:
    """Write the report of each run that has none as new as its trials; return a line for each that fails."""
    runs = [each.stored.run.path.resolve() for each in found if each.stored]
    old = [run for run in runs if _is_old(run)]
    return [fault for fault in watched(each_in_processes(_report, old), len(old)) if fault]


def _is_old(run: Path) -> bool:
    report, made_from = run / report_files.PAGE, run / OUTCOMES
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
        write_report(run)
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
) -> str:
    ranked = compared(comparison, found, folder, measure, reports)
    worst = worst_trials(found, comparison.subjects, measure)[: MOST_PICTURES if reports else QUICK_PICTURES]
    pages = {row.found.link.name: row.page for row in ranked.rows}
    scatter, explained = _pictures(found, worst, labels(comparison), pages)
    shown = {
        "title": page.title(comparison),
        "began": folder.name,
        "complete": state.decided or not state.budget_used,
        "digest": digest,
        "subjects": " or ".join(labels(comparison)[name] for name in comparison.subjects),
        "sentences": sentences(comparison, found, measure),
        "notes": list(page.notes(found, state)),
        "matrix": ranked,
        "scatter": scatter,
        "worst": explained,
        "pairs": page.pairs_table(comparison, found),
        "scorecard": scorecard(comparison, found),
        "method": page.method(comparison, looks_of(comparison), measure),
        "facts": page.facts(comparison, found, record.read(folder)["command"]),
        "files": [*files, "ranks.txt"],
    }
    style = template.own_style(HERE / "compare.css")
    return template.render("compare.html.j2", HERE, page=shown, own_style=style)


def _pictures(
    found: Sequence[LinkResult], worst: Sequence[Worst], shown: Mapping[str, str], pages: Mapping[str, str | None]
) -> tuple[Picture | None, list[Explained]]:
    """Draw all links in one picture, and each worst trial."""
    alone = [each.stored for each in found if each.stored and not each.link.rival]
    scatter, *explained = map_in_processes(partial(_drawn, shown, pages), [alone, *worst])
    return scatter, [each for each in explained if each]


def _drawn(shown: Mapping[str, str], pages: Mapping[str, str | None], what: Any) -> Any:
    from lab_compare.report import explained  # here: the process that waits for the pictures loads no matplotlib

    return explained.explain(what, shown, pages) if isinstance(what, Worst) else explained.scatter(what)
