# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranks, values and differences of senders as text, for pages, tables and the terminal."""

from collections.abc import Mapping, Sequence
from math import ceil

from lab.base.format import AT_LEAST, NONE, number
from lab.base.stats import CONFIDENCE, AtLeast, effect_word, mean_of
from lab.evaluation.measures import Measure
from lab_compare.ranks import Pair, RankedPlace

DIGITS = {"s": 2, "ms": 1, "packets": 0, "Mb/s": 1, "%": 0}  # one more of what is below 1

BOUND = ", of lower bounds: a download was too short"


def value_text(measure: Measure, values: Sequence[float | None]) -> str:
    """Return a mean with its unit, marked where a value is a lower bound; of a share the count."""
    known = [value for value in values if value is not None]
    if measure.binary:
        return f"{round(sum(known))}/{len(known)}" if known else NONE
    mean = mean_of(known)
    least = AT_LEAST if isinstance(mean, AtLeast) else ""
    return NONE if mean is None else f"{least}{number(mean, _digits(measure, mean))} {measure.unit}"


def rank_text(place: RankedPlace | None) -> str:
    """Return a rank: a number, or from the best to the worst that it may be."""
    if place is None:
        return NONE
    return f"{place.best}" if place.best == place.worst else f"{place.best}{NONE}{place.worst}"


def leads(place: RankedPlace | None, places: Mapping[str, RankedPlace]) -> bool:
    """Return whether no sender is ahead, and some sender is behind."""
    return place is not None and place.best == 1 and place.worst < len(places)


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
    effect = f", {effect_word(found.effect)} effect" if found.pairs > 1 else ""
    bound = BOUND if pair.bound else ""
    if found.lo is None or found.hi is None:
        return f"{value} {unit}{effect}{bound}"
    if measure.binary and found.lo == found.hi:
        chance_pct = _at_most(_may_differ_pct(found.pairs), 0)
        return f"{value} {unit} in each of {found.pairs} trials: the chance of another value is below {chance_pct} %"
    bounds = sorted((sign * scale * found.lo, sign * scale * found.hi))
    interval = f"[{_signed(bounds[0], digits)}, {_signed(bounds[1], digits)}]"
    return f"{value} {unit} {interval}{effect}{bound}"


def apart_text(measure: Measure, pair: Pair) -> str:
    """Return how far two senders may be apart, by the interval of their difference.

    Of shares that were alike in every trial the interval has no width. The chance that a trial differs is then below
    Clopper and Pearson's bound: a greater one would have shown in so many trials.
    """
    found = pair.difference
    if pair.bound:
        return "how far is not known: a download was too short"
    if found.lo is None or found.hi is None:
        return "too few trials for an interval"
    most = max(abs(found.lo), abs(found.hi))
    if measure.binary:
        most = 100 * most or _may_differ_pct(found.pairs)
    unit = "points" if measure.unit == "%" else measure.unit
    return f"at most {_at_most(most, _digits(measure, most))} {unit} apart" if most else "alike in every trial"


def _may_differ_pct(alike: int) -> float:
    """Return up to which chance a trial differs from so many that were alike: by Clopper and Pearson's bound."""
    return 100 * (1 - float((1 - CONFIDENCE) ** (1 / alike)))


def _at_most(value: float, digits: int) -> str:
    """Return a bound with so many decimals, rounded up: rounded down it would not hold."""
    return number(ceil(round(value * 10**digits, 6)) / 10**digits, digits)


def _digits(measure: Measure, value: float) -> int:
    return DIGITS[measure.unit] + (0 < abs(value) < 1 and measure.unit != "%")


def _signed(value: float, digits: int) -> str:
    rounded = round(value, digits) + 0.0
    sign = "\N{MINUS SIGN}" if rounded < 0 else "+" if rounded > 0 else "\N{PLUS-MINUS SIGN}"
    return f"{sign}{abs(rounded):,.{digits}f}"
