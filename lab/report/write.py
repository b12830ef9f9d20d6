# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the whole report of a stored run into its folder."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import polars as pl

from lab.base.errors import UserError
from lab.base.plain_file import require_folder, write_whole
from lab.figures.save import pdf, png, svg
from lab.judge.provenance import provenance
from lab.judge.registry import rule_of
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report import figures, markdown, page, short_flows, text, trust
from lab.report.browser.pack import browsed
from lab.report.figures import Named
from lab.report.headline import headline
from lab.report.table import Table, tables
from lab.report.table_files import table_files
from lab.report.template import Picture, picture
from lab.tables.csv_text import to_csv
from lab.tables.records import Stanza
from lab.tables.stored_run import Run


@dataclass(frozen=True)
class ReportPaths:
    """Where each part of the report lies."""

    page: Path
    summary_csv: Path
    outcomes_csv: Path
    summary_md: Path
    tables: tuple[Path, ...]
    summary_txt: Path
    figures: tuple[Path, ...]


@dataclass(frozen=True)
class Report:
    """What a terminal shows of it (see lab.report.text.shown), and the files."""

    headline: tuple[str, ...]
    tables: tuple[Table, ...]
    unnoticed: str  # what is stored without digests; empty: nothing
    paths: ReportPaths


def write_report(run_dir: Path, replay_library: Path | None) -> Report:
    """Judge every trial, aggregate, draw, and write all forms; an older report is replaced file by file."""
    stored = Stored.of(Run(run_dir))
    if faults := stored.judged.faults:
        more = f"; trials damaged besides it: {len(faults) - 1}" if len(faults) > 1 else ""
        raise UserError(f"{faults[0]}{more}")
    run, judged = stored.run, stored.judged.outcomes
    ccas, scenario = run.ccas, run.scenario
    summary = summarise(judged, [stanza["name"] for stanza in ccas])
    sentences, costs = short_flows.of_run(stored)
    answer = sentences or headline(summary, ccas, rule_of(scenario))
    shown = (*costs, *tables(summary, ccas, scenario.get("published", []), provenance(run.meta["profile"])))
    pictures, drawn = _draw(stored, replay_library)
    html = page.render(_page(run, judged, answer, shown, pictures))
    paths = ReportPaths(
        page=write_whole(run_dir / "report.html", html),
        summary_csv=write_whole(run_dir / "summary.csv", to_csv(summary, float_precision=6)),
        outcomes_csv=write_whole(run_dir / "outcomes.csv", to_csv(judged, float_precision=6)),
        summary_md=write_whole(run_dir / "summary.md", markdown.render(scenario["question"], answer, shown)),
        tables=_write_tables(run_dir / "tables", shown),
        summary_txt=write_whole(run_dir / "summary.txt", text.render(answer, shown)),
        figures=drawn,
    )
    return Report(answer, shown, trust.unnoticed(run), paths)


def _write_tables(folder: Path, shown: tuple[Table, ...]) -> tuple[Path, ...]:
    """Write each table alone, in every form."""
    folder.mkdir(exist_ok=True)
    contents = {name: content for table in shown for name, content in table_files(table).items()}
    return tuple(write_whole(folder / name, content) for name, content in contents.items())


def _draw(stored: Stored, replay_library: Path | None) -> tuple[dict[Named, Picture], tuple[Path, ...]]:
    """Write every figure as SVG and PNG, and keep its SVG for the page."""
    folder = stored.run.path / "figures"
    require_folder(folder)
    folder.mkdir(exist_ok=True)
    pictures, written = {}, []
    for named in chain(figures.over_all_trials(stored), figures.per_sender(stored, replay_library)):
        vector = svg(named.drawing.figure)
        pictures[named] = picture(named.name, vector, named.drawing.alt, named.drawing.caption)
        written.append(write_whole(folder / f"{named.name}.svg", vector))
        written.append(write_whole(folder / f"{named.name}.png", png(named.drawing.figure)))
        written.append(write_whole(folder / f"{named.name}.pdf", pdf(named.drawing.figure)))
    return pictures, tuple(written)


def _page(
    run: Run,
    judged: pl.DataFrame,
    answer: tuple[str, ...],
    shown: tuple[Table, ...],
    pictures: dict[Named, Picture],
) -> page.Page:
    return page.Page(
        run=run.path.resolve().name,
        scenario=run.path.resolve().parent.name,
        meta=run.meta,
        headline=answer,
        overviews=[picture for named, picture in pictures.items() if named.cca is None],
        tables=shown,
        senders=[_sender(stanza, pictures) for stanza in run.ccas],
        checks=trust.checks(run.trials),
        invalid=trust.invalid(run.trials),
        digests=trust.digests(run),
        loss_disagreements=trust.loss_disagreements(judged),
        trials=len(run.trials),
        browsed=browsed([(run, judged, run.path.resolve().parent.name)]),
    )


def _sender(stanza: Stanza, pictures: dict[Named, Picture]) -> page.SenderPart:
    own = {named: picture for named, picture in pictures.items() if named.cca == stanza["name"]}
    trial = next((named.trial for named in own), None)
    return page.SenderPart(stanza["label"], stanza["colour"], trial, list(own.values()))
