# SPDX-License-Identifier: GPL-2.0-or-later
"""The ranking matrix: one row per link, one cell per sender, and in each cell a reading per measure."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lab.base.format import NONE, number
from lab.base.stats import effect_word
from lab.evaluation.compare.comparison import Comparison
from lab.evaluation.compare.measures import MEASURES, Measure
from lab.evaluation.compare.ranks import Pair, Place, of
from lab.evaluation.compare.results import LinkResult
from lab.report.matrix.published import short_label

REPORT = "report.html"
MEASURED_MOST = 100.0  # percent, of a bar
DIGITS = {"s": 2, "ms": 1, "packets": 0, "Mb/s": 1, "%": 0}  # one more of what is below 1


@dataclass(frozen=True)
class Reading:
    """A sender on a link by one measure, as text; `share_pct` is its bar, of the best sender."""

    rank: str
    value: str
    versus: str  # the difference from the subject, with its interval; empty: it is the subject, or alone
    spoken: str
    share_pct: float
    leads: bool  # nobody is ahead, and somebody is behind


@dataclass(frozen=True)
class Row:
    """A link with its cells by sender and measure."""

    name: str
    title: str
    trials: str
    shared: bool  # with a rival
    page: str | None  # the report of its run
    cells: Mapping[str, Mapping[str, Reading]]  # by sender, then by measure


@dataclass(frozen=True)
class Matrix:
    """All that the template shows."""

    senders: Mapping[str, str]  # labels by name
    subjects: Sequence[str]
    rows: Sequence[Row]
    measures: Sequence[Measure]


def matrix(comparison: Comparison, found: Sequence[LinkResult], folder: Path, primary: str, reports: bool) -> Matrix:
    """Return the matrix of a comparison; the measure that decided comes first.

    reports: a row opens the report of its run, which is there or will be; else only one that is there.
    """
    measures = sorted(MEASURES, key=lambda measure: measure.name != primary)
    rows = [_row(comparison, each, folder, reports) for each in found]
    return Matrix(labels(comparison), comparison.subjects, rows, measures)


def labels(comparison: Comparison) -> dict[str, str]:
    """Return what each sender is called."""
    return {name: short_label(cca.label) for name, cca in comparison.senders.items()}


def mean_of(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that exist."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def value_text(measure: Measure, values: Sequence[float | None]) -> str:
    """Return a mean with its unit; of a share the count."""
    known = [value for value in values if value is not None]
    if measure.binary:
        return f"{round(sum(known))}/{len(known)}" if known else NONE
    mean = mean_of(known)
    return NONE if mean is None else f"{number(mean, _digits(measure, mean))} {measure.unit}"


def rank_text(place: Place | None) -> str:
    """Return a rank; with "=" where others share it."""
    return NONE if place is None else f"{place.rank}{'=' if place.ties else ''}"


def _row(comparison: Comparison, found: LinkResult, folder: Path, reports: bool) -> Row:
    page = None
    if found.stored and (reports or (found.stored.run.path / REPORT).exists()):
        report = found.stored.run.path.resolve() / REPORT
        page = Path(os.path.relpath(report, folder.resolve())).as_posix()
    cells = {cca: _cells(comparison, found, cca) for cca in comparison.senders}
    return Row(found.link.name, found.link.title, _trials(comparison, found), bool(found.link.rival), page, cells)


def _trials(comparison: Comparison, found: LinkResult) -> str:
    """Return how many trials of each sender are valid; a range where they differ."""
    if not found.stored:
        return "no trial has a result"
    valid = sorted({found.valid(cca) for cca in comparison.senders})
    few = f"{valid[0]}" if len(valid) == 1 else f"{valid[0]} to {valid[-1]}"
    trials = f"{found.trials} {'trial' if found.trials == 1 else 'trials'} each"
    return trials if valid == [found.trials] else f"{few} of {trials}"


def _cells(comparison: Comparison, found: LinkResult, cca: str) -> dict[str, Reading]:
    readings = {}
    for measure in MEASURES:
        by_sender = found.values.get(measure.name, {})
        if any(value is not None for value in by_sender.get(cca, [])):
            readings[measure.name] = _reading(comparison, found, measure, cca)
    return readings


def _reading(comparison: Comparison, found: LinkResult, measure: Measure, cca: str) -> Reading:
    by_sender = found.values[measure.name]
    subject = comparison.subjects[0]
    pair = None if cca == subject else of(found.pairs[measure.name], subject, cca)
    place = found.places[measure.name].get(cca)
    value, rank = value_text(measure, by_sender[cca]), rank_text(place)
    versus = difference_text(measure, pair, cca) if pair else ""
    label = labels(comparison)
    spoken = f"{label[cca]}, {found.link.title}: {measure.title} {value}, rank {rank.replace('=', ', tied')}"
    if pair and versus:
        apart = "separated" if pair.separated else "not separated"
        spoken += f"; {versus} against {label[subject]} on the same trials, {apart}"
    leads = place is not None and place.rank == 1 and place.ties < len(by_sender) - 1
    return Reading(rank, value, versus, spoken, _share_pct(measure, by_sender, cca), leads)


def difference_text(measure: Measure, pair: Pair, of_sender: str) -> str:
    """Return the mean difference of a sender from the other of its pair, with its 95 % interval and its effect."""
    found = pair.difference
    if found.difference is None:
        return ""
    if found.difference == found.lo == found.hi == 0:
        return "no difference"
    sign = 1 if pair.first == of_sender else -1
    scale = 100 if measure.binary else 1
    unit = "points" if measure.unit == "%" else measure.unit
    digits = _digits(measure, found.difference)
    value = _signed(sign * scale * found.difference, digits)
    if found.lo is None or found.hi is None:
        return f"{value} {unit}"
    bounds = sorted((sign * scale * found.lo, sign * scale * found.hi))
    interval = f"[{_signed(bounds[0], digits)}, {_signed(bounds[1], digits)}]"
    return f"{value} {unit} {interval}, {effect_word(found.effect)} effect"


def _digits(measure: Measure, value: float) -> int:
    return DIGITS[measure.unit] + (0 < abs(value) < 1 and measure.unit != "%")


def _signed(value: float, digits: int) -> str:
    rounded = round(value, digits) + 0.0
    sign = "\N{MINUS SIGN}" if rounded < 0 else "+" if rounded > 0 else "\N{PLUS-MINUS SIGN}"
    return f"{sign}{abs(rounded):,.{digits}f}"


def _share_pct(measure: Measure, by_sender: Mapping[str, Sequence[float | None]], cca: str) -> float:
    """Return the length of a bar: of the largest mean on the link."""
    means = {name: mean for name, values in by_sender.items() if (mean := mean_of(values)) is not None}
    most = 1.0 if measure.binary else max(means.values(), default=0.0)
    return max(0.0, MEASURED_MOST * means.get(cca, 0.0) / most) if most > 0 else 0.0
