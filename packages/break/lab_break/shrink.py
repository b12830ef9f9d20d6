# SPDX-License-Identifier: GPL-2.0-or-later
"""Shrinking: the point nearest to the usual link, with the fewest digits, that still shows a find.

Delta debugging over parameters: each goes back to its usual value if the rest still shows it, one after the other in
the order in which the value suffers least; then each number that is left gets as few digits as still show it.
"""

from collections.abc import Callable, Sequence

from lab_break.measures import CRASH
from lab_break.space import Bounds, Point, Value, significant

KEPT = 0.9  # of a find's value: what is smaller no longer shows it
Shows = Callable[[float | None], bool]
Values = Callable[[Sequence[Point]], list[float | None]]


def shrink(point: Point, bounds: Bounds, value: float, values: Values) -> Point:
    """Return the smallest point that still shows the find; `values` runs trials."""

    def shows(found: float | None) -> bool:
        """Return whether a value is still of the find: a sender that gives no result is another one."""
        return found is not None and found >= KEPT * value and (found >= CRASH) == (value >= CRASH)

    small = _towards_usual(_unused(point, bounds), bounds, shows, values)
    for digits in (2, 1):
        small = _fewer_digits(small, bounds, digits, shows, values)
    return _unused(small, bounds)


def _unused(point: Point, bounds: Bounds) -> Point:
    """Return a point whose parameters without effect are the usual ones: this changes no trial."""
    found = dict(point)
    if point["jitter"] == "none":
        found |= {name: bounds.usual[name] for name in ("jitter_ms", "jitter_period_ms")}
    elif point["jitter"] == "frames":
        found["jitter_period_ms"] = bounds.usual["jitter_period_ms"]
    if point["step_factor"] == 1:
        found["step_at_s"] = bounds.usual["step_at_s"]
    return found


def _towards_usual(point: Point, bounds: Bounds, shows: Shows, values: Values) -> Point:
    while True:
        others = [name for name in point if point[name] != bounds.usual[name]]
        tries = [_unused({**point, name: bounds.usual[name]}, bounds) for name in others]
        shown = [
            (found, trial) for found, trial in zip(values(tries), tries, strict=True) if shows(found) and found is not None
        ]
        if not shown:
            return point
        point = max(shown, key=lambda each: each[0])[1]


def _fewer_digits(point: Point, bounds: Bounds, digits: int, shows: Shows, values: Values) -> Point:
    """Round each number if the rest still shows the find: the first point of the batch that does, then the next."""
    for name in [name for name, value in point.items() if not isinstance(value, str)]:
        rounded = {**point, name: _within(point[name], name, bounds, digits)}
        if rounded[name] == point[name] or rounded[name] == bounds.usual[name]:
            continue
        (found,) = values([rounded])
        if shows(found):
            point = rounded
    return point


def _within(value: Value, name: str, bounds: Bounds, digits: int) -> Value:
    """Return a rounded number, or the number itself where that leaves its range."""
    assert not isinstance(value, str)
    short, bound = significant(value, digits), bounds.ranges.get(name)
    return short if bound is not None and bound.least <= short <= bound.most else value
