# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranking matrix of a page: one row per link, one cell per sender, and in each cell a reading per measure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lab.evaluation.measures import MEASURES, Measure
from lab.judge.representative import representatives
from lab.judge.stored import Stored
from lab.senders.traced import CAPTURED
from lab_compare.matrix.readings import Reading, Shown, read
from lab_compare.results import LinkResult

HOME = "Home access with AQM"
KINDS = {
    "geo": "GEO",
    "leo": "LEO",
    "lte": "LTE",
    "5g": "5G",
    "wifi": "WiFi",
    "home": HOME,
    "docsis": HOME,
    "wired": "Wired",
}
OTHER = "Other links"


def kind_of(profile: str) -> str:
    """Return the kind of link that a profile describes."""
    return KINDS.get(Path(profile).stem.split("-", 1)[0], OTHER)


Page = Callable[[Stored], str | None]  # where a run's report lies, as seen from the page; none where it has none


@dataclass(frozen=True)
class Linked:
    """The results of a link: of the run whose senders are ranked, and of others that have senders which it lacks."""

    found: LinkResult
    others: Sequence[LinkResult] = ()


@dataclass(frozen=True)
class Cell:
    """A sender on a link: a reading per measure, or why there is none."""

    cca: str
    page: str | None
    capture: str | None  # of the trial that the page shows in detail, where it is stored
    run: str  # the run that it is of, where that is not the row's: its trials are not paired with the others
    found: LinkResult
    readings: Mapping[str, Reading]
    lacking: Mapping[str, str]


@dataclass(frozen=True)
class MatrixRow:
    """A link with its cells by sender."""

    found: LinkResult
    kind: str
    page: str | None
    run: str
    trials: str
    subject: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Matrix:
    """All that the template shows."""

    senders: Mapping[str, str]  # labels by name, in the order of the columns
    subjects: Sequence[str]
    rows: Sequence[MatrixRow]
    measures: Sequence[Measure]

    @property
    def shares(self) -> list[str]:
        return [measure.name for measure in self.measures if measure.binary]

    @property
    def reference(self) -> str:
        """Return whom a cell's difference is from."""
        subjects = {row.subject for row in self.rows}
        return self.senders[subjects.pop()] if len(subjects) == 1 else "the row's first sender"


def matrix(
    links: Sequence[Linked],
    senders: Mapping[str, str],
    subjects: Sequence[str],
    page: Page,
    measures: Sequence[Measure] = MEASURES,
) -> Matrix:
    """Return the matrix of some links; senders: their labels, in the order of the columns."""
    return Matrix(senders, subjects, [_row(each, senders, page, measures) for each in links], measures)


def _row(linked: Linked, senders: Mapping[str, str], page: Page, measures: Sequence[Measure]) -> MatrixRow:
    found, stored = linked.found, linked.found.stored
    of_link = [found, *linked.others]
    ran = stored.run.scenario["ccas"] if stored else list(senders)
    subject = next(cca for cca in senders if cca in ran)
    cells: dict[str, Cell] = {}
    for cca in senders:
        own = next((each for each in of_link if each.stored and cca in each.stored.run.scenario["ccas"]), None)
        if own and own.stored:
            readings = _readings(Shown(own, of_link, cca, subject, senders), measures)
            lacking = {each.name: _lacking(own, each, cca) for each in measures if each.name not in readings}
            run = "" if own is found else own.stored.run_name
            report = page(own.stored)
            cells[cca] = Cell(cca, report, report and _capture(own.stored, cca, report), run, own, readings, lacking)
    trials = _trials(found, list(ran))
    where = (page(stored), stored.run_name) if stored else (None, "")
    return MatrixRow(found, kind_of(found.link.profile), *where, trials, subject, cells)


def _capture(stored: Stored, cca: str, page: str) -> str | None:
    """Return where the capture of a sender's representative trial lies, next to the report of its run."""
    number = representatives(stored.judged.outcomes).get(cca)
    file = f"trials/{cca}-{number:03d}/{CAPTURED}.zst" if number else None
    return (PurePosixPath(page).parent / file).as_posix() if file and (stored.run.path / file).exists() else None


def _readings(shown: Shown, measures: Sequence[Measure]) -> dict[str, Reading]:
    by_measure = {each.name: shown.found.values.get(each.name, {}).get(shown.cca, []) for each in measures}
    has = {name for name, values in by_measure.items() if any(value is not None for value in values)}
    return {each.name: read(shown, each) for each in measures if each.name in has}


def _lacking(found: LinkResult, measure: Measure, cca: str) -> str:
    """Return why a sender has no value of a measure."""
    shared, elsewhere = bool(found.link.rival), measure.name in found.values
    if shared and not measure.shared:
        return "here only harm is measured"
    if measure.shared != shared or (measure.shared and not elsewhere):
        return "not run"
    if not found.valid(cca):
        return "no valid trial"
    return "no download was so long" if measure.size_bytes and not elsewhere else "no exit was judged"


def _trials(found: LinkResult, senders: Sequence[str]) -> str:
    """Return how many trials of each sender are valid; a range where they differ."""
    if not found.stored:
        return "no trial has a result"
    valid = sorted({found.valid(cca) for cca in senders})
    few = f"{valid[0]}" if len(valid) == 1 else f"{valid[0]} to {valid[-1]}"
    trials = f"{found.trials} {'trial' if found.trials == 1 else 'trials'} each"
    counted = trials if valid == [found.trials] else f"{few} of {trials}"
    return f"{counted}; all the same, one: {', '.join(found.copied)}" if found.copied else counted
