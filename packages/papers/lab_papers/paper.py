# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures for a paper: each from what it is given, with its provenance as text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl
from lab_formats.named import find

from lab.base import paths
from lab.base.errors import UserError, field_error
from lab.commands.known import require_run
from lab.evaluation import sweep
from lab.evaluation.measures import BY_NAME
from lab.figures.page_figure import Given, PageFigure
from lab.figures.style import Drawing
from lab.judge.provenance import provenance
from lab.judge.stored import Stored, in_order
from lab.runs.vary import MOST_FIELDS
from lab.tables.stored_run import Run
from lab_papers.evaluation.kept import evaluation
from lab_papers.evaluation.recorded.comparison import SCENARIO, compare_recorded, fetched
from lab_papers.evaluation.spectrum import spectrum
from lab_papers.figures.replayed import Replayed, replayed
from lab_papers.figures.sensitivity import JUDGES
from lab_papers.fullest import stored
from lab_papers.index.summary import one_a_link
from lab_papers.paper_sheet import footnote

Found = Iterator[tuple[str, Drawing | None, tuple[str, ...]]]  # name, drawing, provenance


@dataclass(frozen=True)
class Sources:
    """What `lab figure` draws from: names of --run, and the compiled SEARCH core where there is one."""

    names: Sequence[str]
    replay_library: Path | None

    @cached_property
    def runs(self) -> list[Stored]:
        """Return the runs that the user names; without a name, the fullest run of each link. Each is whole."""
        if self.names:
            return [Stored.of(Run(require_run(name, "--run="))).require_whole() for name in self.names]
        return [run.require_whole() for run in in_order(one_a_link(stored(paths.results())[0]))]

    def one(self) -> Stored:
        """Return the only run."""
        if len(self.names) != 1:
            raise UserError(f"--run={' '.join(self.names) or 'nothing'}: must be one run for this figure")
        return self.runs[0]


def drawings(figure: PageFigure, sources: Sources, footer: bool) -> Iterator[tuple[str, Drawing]]:
    """Yield the drawings of a figure, each under the name of its file."""
    if figure.given is None:
        raise UserError(f"{figure.name}: of=None: must be a lab.figures.page_figure.Given to be drawn by name")
    for name, drawing, of_link in LOADERS[figure.given](figure, sources):
        if drawing is not None:
            if footer and of_link:
                footnote(drawing.figure, of_link)
            yield name, replace(drawing, provenance=of_link)


def _run(figure: PageFigure, sources: Sources) -> Found:
    run = sources.one()
    yield figure.name, figure.draw(run), _of(run)


def _trial(figure: PageFigure, sources: Sources) -> Found:
    run = sources.one()
    for subject in _subjects(run, sources):
        yield f"{figure.name}-{subject.sender.name}", figure.draw(subject), _of(run)


def _trials(figure: PageFigure, sources: Sources) -> Found:
    run = sources.one()
    yield figure.name, figure.draw(list(_subjects(run, sources))), _of(run)


def _runs(figure: PageFigure, sources: Sources) -> Found:
    links = {run.run.scenario["profile"] for run in sources.runs}
    yield figure.name, figure.draw(sources.runs), _of(sources.runs[0]) if len(links) == 1 else ()


def _rules(figure: PageFigure, sources: Sources) -> Found:
    table = evaluation(paths.results(), "heuristics_trials")
    if table is None:
        raise UserError(f"{paths.results()}/evaluation: must have heuristics_trials.parquet: run `lab evaluate`")
    yield figure.name, figure.draw(table, {run.name: run.link for run in sources.runs}), ()


def _map(figure: PageFigure, sources: Sources) -> Found:
    table = evaluation(paths.results(), "sensitivity")
    if table is None:
        raise UserError(f"{paths.results()}/evaluation: must have sensitivity.parquet: run `lab evaluate`")
    scenarios = sources.names or table["scenario"].unique(maintain_order=True).to_list()
    for scenario in scenarios:
        run = Stored.of(Run(require_run(scenario, "--run=")))
        for kind in table["map"].unique(maintain_order=True):
            for judge in JUDGES:
                drawing = figure.draw(table, kind, judge, run.name, run.link)
                yield f"{figure.name}-{run.name}-{kind}-{judge}", drawing, _of(run)


def _sweep(figure: PageFigure, sources: Sources) -> Found:
    if not sources.names:
        raise UserError("--run=nothing: must be the folder of a sweep, such as results/sweeps/geo/<time>")
    for name in sources.names:
        table = sweep.read(Path(name))
        _require_one(table, Path(name) / sweep.FILE)
        of = _plain(Path(name).resolve().parent.name)
        for measure in table["measure"].unique(maintain_order=True):
            yield f"{figure.name}-{of}-{measure}", figure.draw(table, measure), ()


def _require_one(table: pl.DataFrame, file: Path) -> None:
    """Refuse a table that is not of one sweep: several in a file, or values changed by a program of tables."""
    fields = sweep.fields_of(table)
    if not 1 <= len(fields) <= MOST_FIELDS:
        raise field_error(file, "fields", ", ".join(fields), f"1 or {MOST_FIELDS}: columns beside those of a sweep")
    for name in ("n", "mean", "lo", "hi"):
        if not table[name].dtype.is_numeric() and table[name].null_count() < table.height:
            raise field_error(file, name, table[name].drop_nulls()[0], "a column of numbers")
    known = table["measure"].is_in(list(BY_NAME))
    if not known.all():
        raise field_error(file, "measure", table.filter(~known)["measure"][0], f"one of {', '.join(BY_NAME)}")
    twice = table.filter(table.select(*fields, "cca", "measure").is_duplicated())
    if twice.height:
        point = ", ".join([*(f"{field}={twice[field][0]}" for field in fields), twice["cca"][0], twice["measure"][0]])
        raise field_error(file, "point", point, "in one row: the file holds several sweeps")


def _downloads(figure: PageFigure, sources: Sources) -> Found:
    name, *recordings = sources.names or [SCENARIO]
    run = Stored.of(Run(require_run(name, "--run="))).require_whole().run
    drawing = figure.draw(compare_recorded(run.path, recordings or fetched()))
    yield figure.name, drawing, provenance(run.meta["profile"])


def _recording(figure: PageFigure, sources: Sources) -> Found:
    for name in sources.names:
        yield f"{figure.name}-{_plain(name)}", figure.draw(find(name, None, []), _plain(name)), ()


def _spectrum(figure: PageFigure, sources: Sources) -> Found:
    for name in sources.names:
        yield f"{figure.name}-{_plain(name)}", figure.draw(spectrum(find(name, None, [])), _plain(name)), ()


LOADERS: Mapping[Given, Callable[[PageFigure, Sources], Found]] = {
    Given.RUN: _run,
    Given.TRIAL: _trial,
    Given.TRIALS: _trials,
    Given.RUNS: _runs,
    Given.RULES: _rules,
    Given.MAP: _map,
    Given.SWEEP: _sweep,
    Given.DOWNLOADS: _downloads,
    Given.RECORDING: _recording,
    Given.SPECTRUM: _spectrum,
}


def _subjects(run: Stored, sources: Sources) -> Iterator[Replayed]:
    return replayed(run, sources.replay_library)


def _of(run: Stored) -> tuple[str, ...]:
    return provenance(run.run.meta["profile"])


def _plain(name: str) -> str:
    """Return the name of a recording as one file's: that of a file is its own name, without its folder."""
    known = Path(name).name if Path(name).is_file() else name
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in known).strip("-.")
