# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares with their uncertainty, and means with their spread."""

from collections.abc import Iterable
from statistics import fmean, stdev
from typing import cast

import polars as pl
from scipy.stats import binomtest

CONFIDENCE = 0.95


def largest(series: pl.Series) -> float | None:
    """Largest value of a numeric column; null of none."""
    return cast("float | None", series.max())


def smallest(series: pl.Series) -> float | None:
    """Smallest value of a numeric column; null of none."""
    return cast("float | None", series.min())


def median(series: pl.Series) -> float | None:
    """Median of a numeric column; null of none."""
    return cast("float | None", series.median())


def share_pct(hits: int, trials: int) -> float | None:
    """Share in percent; null of no trials."""
    return 100 * hits / trials if trials else None


def wilson_pct(hits: int, trials: int) -> tuple[float | None, float | None]:
    """Wilson's 95 % score interval of a share, in percent: what the data allow, also at 0 of n and n of n."""
    if not trials:
        return None, None
    interval = binomtest(hits, trials).proportion_ci(CONFIDENCE, method="wilson")
    return 100 * float(interval.low), 100 * float(interval.high)


def mean_sd(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation of the values that exist: no mean of none, no spread of one."""
    known = [value for value in values if value is not None]
    return (fmean(known) if known else None), (stdev(known) if len(known) > 1 else None)
