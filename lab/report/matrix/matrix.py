# SPDX-License-Identifier: GPL-2.0-or-later
"""From runs to the matrix: which run stands for each link and sender, and what each cell shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report.matrix.kinds import kind_of
from lab.report.matrix.measures import MEASURES, SHARE, Measure, Reading, read
from lab.schema.cca import load_ccas

Page = Callable[[Stored], str]


@dataclass(frozen=True)
class Cell:
    """A sender on a link: the run that it is of, that run's report, and a reading per measure."""

    cca: str
    run: str
    page: str
    readings: Mapping[str, Reading]


@dataclass(frozen=True)
class Row:
    """A link: the run with most valid trials of it, and a cell per sender; other runs of the link fill gaps."""

    link: str
    kind: str
    run: str
    page: str
    cells: Mapping[str, Cell]
    stored: Stored


@dataclass(frozen=True)
class Matrix:
    """All that the template shows: senders (name to label) in order, rows, and the choice of measures."""

    senders: Mapping[str, str]
    rows: Sequence[Row]
    measures: Sequence[Measure] = MEASURES

    @property
    def shares(self) -> list[str]:
        """Name the measures whose bars are shares of exits."""
        return [measure.name for measure in self.measures if measure.metric == SHARE]

    def spoken(self, row: Row, cell: Cell, measure: Measure) -> str:
        """Return a cell as a sentence, for those who hear the page or point at the cell."""
        reading = cell.readings[measure.name]
        missed = "".join(f", {reading.bar[zone]:.0f} % {zone}" for zone in ("early", "late") if reading.bar.get(zone))
        theirs = reading.published
        source = (
            f"; {theirs.source}{f' ({theirs.ran})' if theirs.ran else ''}: {reading.published_text}" if theirs else ""
        )
        value = f"{reading.text.replace('/', ' of ')} {measure.unit}".strip()
        return f"{self.senders[cell.cca]}, {row.link}: {value}{missed}{source}. Run {cell.run}"


def matrix(runs: Iterable[Stored], page: Page) -> Matrix:
    """Return the matrix of some runs; page: where a run's report lies, as seen from the matrix.

    Where several runs share a profile, the one with most valid trials is the row (see fullness).
    """
    by_profile: dict[str, list[Stored]] = {}
    for stored in runs:
        by_profile.setdefault(str(stored.run.scenario["profile"]), []).append(stored)
    rows = [_row(sorted(of_link, key=fullness, reverse=True), page) for of_link in by_profile.values()]
    return Matrix(
        _senders(row.stored for row in rows) | _senders(each for of in by_profile.values() for each in of), rows
    )


def fullness(stored: Stored) -> tuple[bool, int]:
    """Rank runs of a link: by valid trials, after runs whose downloads may end before slow start does."""
    sized = bool(stored.run.meta["scenario"].get("size_bytes"))
    return not sized, int(stored.judged.trials["valid"].sum())


def _senders(runs: Iterable[Stored]) -> dict[str, str]:
    """Every sender of some runs, with its label: versions of SEARCH first, each in the order of cca.yml."""
    labels = {stanza["name"]: stanza["label"] for stored in runs for stanza in stored.ccas}
    order = list(load_ccas())
    known = {name: place for place, name in enumerate(order)}
    return {
        name: labels[name]
        for name in sorted(labels, key=lambda name: (not name.startswith("search"), known.get(name, len(order)), name))
    }


def _row(of_link: Sequence[Stored], page: Page) -> Row:
    first = of_link[0]
    cells: dict[str, Cell] = {}
    for stored in of_link:
        for cell in _cells(stored, of_link, page):
            cells.setdefault(cell.cca, cell)
    return Row(
        first.link, kind_of(str(first.run.scenario["profile"])), name_of(first), page(first), _with_bars(cells), first
    )


def name_of(stored: Stored) -> str:
    """Name a run: its scenario and when it began."""
    return f"{stored.name}, {stored.run.path.resolve().name}"


def _cells(stored: Stored, of_link: Sequence[Stored], page: Page) -> Iterable[Cell]:
    names = [stanza["name"] for stanza in stored.ccas]
    table = summarise(stored.judged.outcomes, names)
    for name in names:
        by_rule: dict[str, Mapping[str, Any]] = {
            row["heuristic"]: row for row in table.filter(cca=name).iter_rows(named=True)
        }
        readings = {measure.name: read(measure, stored, of_link, name, by_rule) for measure in MEASURES}
        yield Cell(name, name_of(stored), page(stored), readings)


def _with_bars(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """Give the amounts their bars: percent of the largest on the link."""
    filled = dict(cells)
    for measure in MEASURES:
        if measure.metric == SHARE:
            continue
        values = {name: cell.readings[measure.name].value for name, cell in cells.items()}
        most = max((value for value in values.values() if value), default=0.0)
        for name, value in values.items():
            if most and value is not None:
                filled[name] = _with_bar(filled[name], measure.name, 100 * value / most)
    return filled


def _with_bar(cell: Cell, measure: str, share_pct: float) -> Cell:
    reading = replace(cell.readings[measure], bar={"amount": share_pct})
    return replace(cell, readings={**cell.readings, measure: reading})
