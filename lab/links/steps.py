# SPDX-License-Identifier: GPL-2.0-or-later
"""A quantity of a link over a trial: a number, or steps that are read as often as needed and never held at once."""

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

Row = tuple[float, float]  # from this second on, this value


@dataclass(frozen=True)
class Steps:
    """A quantity that changes: each call of `rows` gives (t_s, value) again, t_s from 0 and strictly rising."""

    rows: Callable[[], Iterator[Row]]

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Steps":
        """Hold a few rows."""
        kept = tuple(rows)
        return cls(lambda: iter(kept))


Quantity = float | Steps


def rows(quantity: Quantity) -> Iterator[Row]:
    """Give a quantity's rows; a number has one."""
    return quantity.rows() if isinstance(quantity, Steps) else iter([(0.0, quantity)])


def first(quantity: Quantity) -> float:
    """Return the value at the start."""
    return next(rows(quantity))[1]


def mapped(quantity: Quantity, function: Callable[[float], float]) -> Quantity:
    """Apply a function to every value."""
    if not isinstance(quantity, Steps):
        return function(quantity)
    source = quantity.rows
    return Steps(lambda: ((t_s, function(value)) for t_s, value in source()))


def merged(*quantities: Quantity) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Give the values of several quantities together, at each time at which one of them changes."""
    varying = [n for n, quantity in enumerate(quantities) if isinstance(quantity, Steps)]
    if len(varying) == 1:
        yield from _among(quantities, *varying)
        return
    streams = (_numbered(n, quantity) for n, quantity in enumerate(quantities))
    now = [math.nan] * len(quantities)
    at_s: float | None = None
    for t_s, n, value in heapq.merge(*streams):
        if at_s is not None and t_s > at_s:
            yield at_s, tuple(now)
        now[n], at_s = value, t_s
    if at_s is not None:
        yield at_s, tuple(now)


def _among(numbers: tuple[Quantity, ...], place: int) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Give the one quantity that changes among numbers: without a merge, for there may be a thousand steps a second."""
    before, behind = tuple(map(first, numbers[:place])), tuple(map(first, numbers[place + 1 :]))
    return ((t_s, (*before, value, *behind)) for t_s, value in rows(numbers[place]))


def _numbered(number: int, quantity: Quantity) -> Iterator[tuple[float, int, float]]:
    return ((t_s, number, value) for t_s, value in rows(quantity))


def added(*quantities: Quantity) -> Quantity:
    """Return the sum of quantities."""
    if not any(isinstance(q, Steps) for q in quantities):
        return sum(first(q) for q in quantities)
    return Steps(lambda: ((t_s, sum(values)) for t_s, values in merged(*quantities)))


def mean(quantity: Quantity, duration_s: float) -> float:
    """Return the mean over time of a quantity's first `duration_s`."""
    ends = ((min(t_s, duration_s), value) for t_s, value in rows(quantity))
    closed = pairwise(_closed(ends, duration_s))
    return sum((end - begin) * value for (begin, value), (end, _) in closed) / duration_s


def peak(quantity: Quantity) -> float:
    """Return the largest value."""
    return max(value for _, value in rows(quantity))


def least(quantity: Quantity) -> float:
    """Return the smallest value."""
    return min(value for _, value in rows(quantity))


def _closed(pairs: Iterable[Row], end_s: float) -> Iterator[Row]:
    yield from pairs
    yield end_s, math.nan
