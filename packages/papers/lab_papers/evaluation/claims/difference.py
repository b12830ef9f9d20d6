# SPDX-License-Identifier: GPL-2.0-or-later
"""How far ours lies from a published value, against the tolerance and against our own interval, which are two tests.

The tolerance was stated before the run. The interval is that of our trials: it is narrow where there are many, and then
excludes a published value that lies within the tolerance.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab_papers.evaluation.claims.estimate import IN_POINTS
from lab_papers.evaluation.claims.sentences import short
from lab_papers.evaluation.claims.verdict import BOUNDS, accepted, keeps

MULTIPLE = 2.0  # tolerances: a larger difference is given as their multiple


@dataclass(frozen=True)
class Difference:
    """Ours minus the published value; null where we have no value, or no interval."""

    value: float | None
    within_tolerance: bool | None
    interval_contains: bool | None


def difference(
    published: float, tolerance: float, ours: float | None, lo: float | None, hi: float | None, bound: str | None = None
) -> Difference:
    """Compare ours with a published value; or with a bound, which our whole interval must keep."""
    if ours is None:
        return Difference(None, None, None)
    if bound:
        least, most = accepted(published, 0.0, bound)
        kept = None if lo is None or hi is None else keeps(published, lo, hi, bound)
        return Difference(ours - published, least <= ours <= most, kept)
    contains = None if lo is None or hi is None else lo <= published <= hi
    return Difference(ours - published, abs(ours - published) <= tolerance if tolerance else contains, contains)


def of_claim(row: Mapping[str, Any]) -> Difference:
    """Compare the values of a row of the claims."""
    published, tolerance, ours, lo, hi = (row[name] for name in ("published", "tolerance", "ours", "lo", "hi"))
    return difference(published, tolerance, ours, lo, hi, bound=row.get("bound"))


def signed(row: Mapping[str, Any]) -> str:
    """Format the difference with its sign; nothing where there is none."""
    value = of_claim(row).value
    if value is None:
        return ""
    size = _size(row, value)
    return ("" if not float(size) else "+" if value > 0 else "-") + size


def compared(row: Mapping[str, Any]) -> str:
    """Return both values and their difference as a sentence without its stop; nothing where we have no value."""
    value, unit = of_claim(row).value, row["unit"]
    if value is None:
        return ""
    return f"{short(row['ours'])} {unit} here, {short(row['published'])} {unit} published: {_apart(row, value)}"


def distance(row: Mapping[str, Any]) -> str:
    """Return the difference in words, against tolerance and interval; nothing where we have no value."""
    found = of_claim(row)
    return "" if found.value is None else f"{_apart(row, found.value)}{_interval(row, found)}"


def _apart(row: Mapping[str, Any], value: float) -> str:
    size = _size(row, value)
    if not float(size):
        return "no difference"
    return f"{size}{_measure(row)} {'more' if value > 0 else 'less'}, {_tolerances(row, value)}"


def _size(row: Mapping[str, Any], value: float) -> str:
    """Format a difference: of shares with the one decimal that papers give."""
    return f"{abs(value):.1f}" if row["metric"] in IN_POINTS else short(abs(value))


def _measure(row: Mapping[str, Any]) -> str:
    if row["metric"] in IN_POINTS:
        return " points"
    return "" if row["unit"] in ("", "times") else f" {row['unit']}"


def _tolerances(row: Mapping[str, Any], value: float) -> str:
    if row.get("bound"):
        return f"where {BOUNDS[row['bound']]} is stated"
    if not row["tolerance"]:
        return "without a tolerance: our interval decides"
    tolerance = f"the tolerance of {short(row['tolerance'])}"
    if abs(value) <= row["tolerance"]:
        return f"within {tolerance}"
    if abs(value) < MULTIPLE * row["tolerance"]:
        return f"beyond {tolerance}"
    return f"{abs(value) / row['tolerance']:.1f} times {tolerance}"


def _interval(row: Mapping[str, Any], found: Difference) -> str:
    if found.interval_contains is None:
        return ""
    if row.get("bound"):
        return f"; our whole interval {'keeps' if found.interval_contains else 'does not keep'} it"
    return f"; our interval {'contains' if found.interval_contains else 'excludes'} the published value"
