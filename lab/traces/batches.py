# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded values on their way to a link, some thousand rows at a time: a day takes no more memory than a minute.

Each function takes and gives an iterator of numpy arrays (t_s, value), none empty, times rising throughout.
"""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

Array = NDArray[np.float64]
Batches = Iterator[tuple[Array, Array]]
ROUNDING = 1e-9  # of a bin: a time on its edge belongs to it


def column(tables: Iterator[pl.DataFrame], name: str) -> Batches:
    """Take a column of tables; what is missing becomes NaN."""
    for table in tables:
        yield table["t_s"].to_numpy(), table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def present(batches: Batches) -> Batches:
    """Leave out rows without a value."""
    for t_s, value in batches:
        kept = ~np.isnan(value)
        if kept.any():
            yield t_s[kept], value[kept]


def binned(batches: Batches, bin_s: float, unit: float, end_s: float | None = None) -> Batches:
    """Sum values in bins, empty ones included, in multiples of `unit`; a bin is returned once it is over.

    end_s: what lies there belongs to the bin that ends there, which stands for as long as it is.
    """
    last = None if end_s is None else math.ceil(end_s / bin_s - ROUNDING) - 1
    first, begun = 0, 0.0
    for t_s, value in batches:
        number = np.floor(t_s / bin_s + ROUNDING).astype(np.int64) - first
        number = number if last is None else np.minimum(number, last - first)
        sums = np.bincount(number, weights=value).astype(np.float64)
        sums[0] += begun
        if len(sums) > 1:
            yield np.arange(first, first + len(sums) - 1, dtype=np.float64) * bin_s, sums[:-1] / unit
        first, begun = first + len(sums) - 1, float(sums[-1])
    share = 1.0 if end_s is None or last is None else (end_s - last * bin_s) / bin_s
    yield np.array([first * bin_s]), np.array([begun / unit / share])


def looped(batches: Batches) -> Batches:
    """Move what lies at 0 to the end: in a loop both are the same instant."""
    at_zero, before = 0.0, None
    for t_s, value in batches:
        if t_s[0] == 0:
            at_zero, t_s, value = float(value[0]), t_s[1:], value[1:]
        if before is not None:
            yield before
        before = (t_s, value) if len(t_s) else None
    if before is not None:
        t_s, value = before
        yield t_s, np.append(value[:-1], value[-1] + at_zero)


def repeated(batches: Batches, period_s: float, times: int) -> tuple[Array, Array]:
    """Return a short recording several times over, in one piece."""
    t_s, value = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    begins_s = np.repeat(np.arange(times) * period_s, len(t_s))
    return np.tile(t_s, times) + begins_s, np.tile(value, times)


def held(batches: Batches, zero_is_missing: bool, scale: float) -> Batches:
    """Hold the last value where one is missing; leave a gap at the beginning out, and count time from its end."""
    begin_s, last = None, np.nan
    for t_s, value in batches:
        known = _known(value, zero_is_missing)
        rows = np.maximum.accumulate(np.where(known, np.arange(1, len(value) + 1), 0))
        filled = np.concatenate([[last], value * scale])[rows]
        last = filled[-1]
        kept = ~np.isnan(filled)
        if not kept.any():
            continue
        begin_s = float(t_s[kept][0]) if begin_s is None else begin_s
        yield t_s[kept] - begin_s, filled[kept]


def gaps_s(batches: Batches, zero_is_missing: bool) -> list[float]:
    """Return how long each gap lasts over which `held` holds a value, until the next value or the last row."""
    found, begin_s, before = list[float](), math.nan, False
    for t_s, value in batches:
        known = _known(value, zero_is_missing)
        for row in np.flatnonzero(np.diff(known, prepend=before)):
            if known[row]:
                found.append(float(t_s[row]) - begin_s)
            begin_s = float(t_s[row])
        before, last_s = bool(known[-1]), float(t_s[-1])
    if not before:
        found.append(last_s - begin_s)
    return [each for each in found if each > 0]  # that at the beginning is none: nothing is held before the first value


def _known(value: Array, zero_is_missing: bool) -> NDArray[np.bool_]:
    known: NDArray[np.bool_] = ~np.isnan(value) & ~(zero_is_missing & (value == 0))
    return known


def least_of(batches: Batches, window_s: float) -> Batches:
    """Replace each value by the least of those within `window_s` up to it."""
    before = np.empty(0), np.empty(0)
    for t_s, value in batches:
        all_s, all_values = np.concatenate([before[0], t_s]), np.concatenate([before[1], value])
        clock_us = pl.Series("t_us", np.round(all_s * 1e6).astype(np.int64))
        least = pl.Series("value", all_values).rolling_min_by(clock_us, window_size=f"{round(window_s * 1e6)}i")
        yield t_s, least.to_numpy()[len(before[0]) :]
        recent = all_s > t_s[-1] - window_s
        before = all_s[recent], all_values[recent]
