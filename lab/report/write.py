# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the whole report of a stored run into its folder, unless it is there already, made from the same."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.base.plain_file import require_folder, write_whole
from lab.base.workers import one_pool
from lab.report import kept, markdown, page, text, trust
from lab.report.answer import Answer, answer_of
from lab.report.browser.pack import browsed
from lab.report.drawn import FORMS, Drawn, draw, parts_of
from lab.report.table import Table
from lab.report.table_files import table_files
from lab.tables.csv_text import to_csv
from lab.tables.records import Stanza

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
Watched = Callable[[Iterable[list[Drawn]], int], Iterable[list[Drawn]]]  # the figures part by part, of so many parts


@dataclass(frozen=True)
class ReportPaths:
    """Where each part of the report lies."""

    page: Path
    summary_csv: Path
    outcomes_csv: Path
    summary_md: Path
    summary_txt: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]

    @classmethod
    def of(cls, run_dir: Path, files: Iterable[Path]) -> "ReportPaths":
        """Sort the files of a report by their folders; the names of the others are fixed."""
        by_folder: dict[str, list[Path]] = {TABLES: [], FIGURES: []}
        for file in files:
            by_folder.get(file.parent.name if file.parent != run_dir else "", []).append(file)
        return cls(
            page=run_dir / PAGE,
            summary_csv=run_dir / "summary.csv",
            outcomes_csv=run_dir / "outcomes.csv",
            summary_md=run_dir / "summary.md",
            summary_txt=run_dir / "summary.txt",
            tables=tuple(by_folder[TABLES]),
            figures=tuple(by_folder[FIGURES]),
        )


@dataclass(frozen=True)
class Report:
    """What a terminal shows of it, and the files."""

    headline: tuple[str, ...]
    tables: tuple[Table, ...]
    paths: ReportPaths


def write_report(run_dir: Path, replay_library: Path | None, forms: Collection[str] = ()) -> Report:
    """Judge every trial, aggregate, draw, and write all forms; an older report is replaced file by file."""
    with one_pool():
        answer = answer_of(run_dir)
        paths = write_answered(answer, replay_library, forms)
    return Report(answer.headline, answer.tables, paths)


def write_answered(
    answer: Answer,
    replay_library: Path | None,
    forms: Collection[str] = (),
    watched: Watched = lambda parts, _count: parts,
) -> ReportPaths:
    """Write the report of an answered run; one that was made from the same before is left as it is.

    forms: of its figures, in addition to SVG and to those that are there. watched: sees each part when it is drawn.
    """
    run = answer.run
    wanted = _wanted(run.path / FIGURES, forms)
    key = kept.made_from(run, sorted(wanted), replay_library)
    files = kept.kept(run.path, key)
    if files is None:
        parts = parts_of(answer.stored)
        drawn = watched(draw(parts, wanted, replay_library), len(parts))
        files = _write(answer, [each for part in drawn for each in part])
        kept.keep(run.path, key, files)
    return ReportPaths.of(run.path, files)


def _wanted(folder: Path, forms: Collection[str]) -> frozenset[str]:
    """Return the forms to draw: a form that lies there from before would be out of date otherwise."""
    require_folder(folder)
    return frozenset(form for form in FORMS if form == FORMS[0] or form in forms or any(folder.glob(f"*.{form}")))


def _write(answer: Answer, drawn: list[Drawn]) -> list[Path]:
    """Write every file of a report."""
    run_dir, question = answer.run.path, answer.run.scenario["question"]
    contents: dict[str, str | bytes] = {
        PAGE: page.render(_page(answer, drawn)),
        "summary.csv": to_csv(answer.summary, float_precision=6),
        "outcomes.csv": to_csv(answer.stored.judged.outcomes, float_precision=6),
        "summary.md": markdown.render(question, answer.headline, answer.tables, answer.link),
        "summary.txt": text.render(answer.headline, answer.tables, answer.link),
    }
    for table in answer.tables:
        contents |= {f"{TABLES}/{name}": content for name, content in table_files(table, answer.link).items()}
    for each in drawn:
        contents |= {f"{FIGURES}/{each.name}.{form}": content for form, content in each.contents.items()}
    for folder in (TABLES, FIGURES):
        (run_dir / folder).mkdir(exist_ok=True)
    return [write_whole(run_dir / name, content) for name, content in contents.items()]


def _page(answer: Answer, drawn: list[Drawn]) -> page.Page:
    run, judged = answer.run, answer.stored.judged.outcomes
    name = run.path.resolve().parent.name
    return page.Page(
        run=run.path.resolve().name,
        scenario=name,
        meta=run.meta,
        headline=answer.headline,
        overviews=[each.picture for each in drawn if each.cca is None],
        tables=answer.tables,
        senders=[_sender(stanza, drawn) for stanza in run.ccas],
        checks=trust.checks(run.trials),
        invalid=answer.invalid,
        digests=trust.digests(run),
        losses=trust.losses(judged),
        trials=len(run.trials),
        browsed=browsed([(run, judged, name)]),
    )


def _sender(stanza: Stanza, drawn: list[Drawn]) -> page.SenderPart:
    own = [each for each in drawn if each.cca == stanza["name"]]
    trial = next((each.trial for each in own), None)
    return page.SenderPart(stanza["label"], stanza["colour"], trial, [each.picture for each in own])
