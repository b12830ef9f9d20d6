# SPDX-License-Identifier: GPL-2.0-or-later
"""Shrinking: the point nearest to the usual link, with the fewest digits, that still shows a find.

Delta debugging over parameters: each goes back to its usual value if the rest still shows it, those that can together;
then each number that is left gets as few digits as still show it. No further such change of the result shows it.
"""

from collections.abc import Callable, Mapping, Sequence

from lab_break.measures import CRASH
from lab_break.space import Bounds, Point, Value, significant

DIGITS = (2, 1)  # of a number that stays unusual
KEPT = 0.9  # of a find's value: what is smaller no longer shows it
Shows = Callable[[float | None], bool]
Values = Callable[[Sequence[Point]], list[float | None]]


def shrink(point: Point, bounds: Bounds, value: float, values: Values) -> Point:
    """Return the smallest point that still shows the find; `values` runs trials."""

    def shows(found: float | None) -> bool:
        """Return whether a value is still of the find: a sender that gives no result is another one."""
        return found is not None and found >= KEPT * value and (found >= CRASH) == (value >= CRASH)

    small = _unused(point, bounds)
    while (smaller := _smaller(small, bounds, shows, values)) != small:
        small = smaller
    return small


def _unused(point: Point, bounds: Bounds) -> Point:
    """Return a point whose parameters without effect are the usual ones: this changes no trial."""
    found = dict(point)
    if point["jitter"] == "none":
        found |= {name: bounds.usual[name] for name in ("jitter_ms", "jitter_period_ms")}
    elif point["jitter"] == "frames":
        found["jitter_period_ms"] = bounds.usual["jitter_period_ms"]
    if point["step_factor"] == 1:
        found["step_at_s"] = bounds.usual["step_at_s"]
    if not point["detour_ms"]:
        found["detour_at_s"] = bounds.usual["detour_at_s"]
    return found


def _smaller(point: Point, bounds: Bounds, shows: Shows, values: Values) -> Point:
    """Return a point with usual values, else with fewer digits; the point itself where none of them shows the find."""
    unusual = [name for name in point if point[name] != bounds.usual[name]]
    usual = {name: bounds.usual[name] for name in unusual}
    shorter = ({name: _within(point[name], name, bounds, digits) for name in unusual} for digits in DIGITS)
    for single in (usual, *shorter):
        changes = {name: value for name, value in single.items() if value != point[name]}
        if (smaller := _changed(point, changes, bounds, shows, values)) != point:
            return smaller
    return point


def _changed(point: Point, single: Mapping[str, Value], bounds: Bounds, shows: Shows, values: Values) -> Point:
    """Return a point with all changes that show the find alone, if it shows it; else with the best of them."""
    tries = [_unused({**point, name: value}, bounds) for name, value in single.items()]
    found = list(zip(values(tries), single.items(), strict=True))
    kept = [(value, change) for value, change in found if shows(value)]
    if len(kept) > 1:
        together = _unused({**point, **dict(change for _, change in kept)}, bounds)
        if shows(values([together])[0]):
            return together
    if not kept:
        return point
    name, value = max(kept, key=lambda each: each[0] or 0.0)[1]
    return _unused({**point, name: value}, bounds)


def _within(value: Value, name: str, bounds: Bounds, digits: int) -> Value:
    """Return a rounded number, or what cannot be rounded: a name, and a number that would leave its range."""
    if isinstance(value, str) or name not in bounds.ranges:
        return value
    short, bound = significant(value, digits), bounds.ranges[name]
    return short if bound.least <= short <= bound.most else value
