# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares, means and medians with their uncertainty; and senders compared on the same links."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import Any, cast

import numpy as np
import polars as pl
import scipy  # loads scipy.stats at its first use: a command that compares nothing starts a second sooner

CONFIDENCE = 0.95
RESAMPLES = 2000
RESAMPLING_SEED = 20241  # the same values give the same interval
FEWEST_VALUES = 6  # five may all be above what they estimate, or all below it, in 1 of 16 cases: more than 5 %


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
    """Wilson's 95 % score interval of a share, in percent: what the data allow, also at 0 of n and n of n.

    By its formula (Wilson, 1927): to load scipy.stats for it took longer than to judge a trial.
    """
    if not trials:
        return None, None
    share, z2 = hits / trials, NormalDist().inv_cdf((1 + CONFIDENCE) / 2) ** 2 / trials
    middle, half = share + z2 / 2, (z2 * (share * (1 - share) + z2 / 4)) ** 0.5
    low, high = ((middle + sign * half) / (1 + z2) for sign in (-1, 1))
    return 0.0 if not hits else 100 * low, 100.0 if hits == trials else 100 * high


def share_row(name: str, hits: int, trials: int, *, copies: bool = False) -> dict[str, float | None]:
    """Return a share and its interval as three columns; copies of one trial have no interval."""
    low, high = (None, None) if copies else wilson_pct(hits, trials)
    return {f"{name}_pct": share_pct(hits, trials), f"{name}_lo_pct": low, f"{name}_hi_pct": high}


def mean_sd(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation of the values that exist: no mean of none, no spread of one."""
    known = [value for value in values if value is not None]
    return (fmean(known) if known else None), (stdev(known) if len(known) > 1 else None)


def bootstrap(
    values: Sequence[float | None], statistic: Callable[..., Any] = np.mean
) -> tuple[float | None, float | None]:
    """95 % interval of a statistic (it takes `axis`) by BCa resampling of the values that exist; none of fewer than 6.

    Values that are all alike have no spread to resample: their interval is the value itself.
    """
    known = np.asarray([value for value in values if value is not None], dtype=float)
    if len(known) > 1 and np.ptp(known) == 0:
        return float(known[0]), float(known[0])
    if len(known) < FEWEST_VALUES:
        return None, None
    rng = np.random.default_rng(RESAMPLING_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a statistic that no resample changes: BCa is undefined, reported as nan
        found = scipy.stats.bootstrap((known,), statistic, n_resamples=RESAMPLES, confidence_level=CONFIDENCE, rng=rng)
    low, high = map(float, found.confidence_interval)
    return (low, high) if np.isfinite([low, high]).all() else _percentiles(known, statistic)


def _percentiles(known: np.ndarray, statistic: Callable[..., Any]) -> tuple[float, float]:
    """Interval from the plain percentiles of resampled statistics."""
    rng = np.random.default_rng(RESAMPLING_SEED)
    drawn = statistic(rng.choice(known, (RESAMPLES, len(known))), axis=1)
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class Paired:
    """Two senders on the same links: the mean and median of first minus second, and how sure that is."""

    pairs: int
    difference: float | None
    lo: float | None
    hi: float | None
    median_difference: float | None
    effect: float | None  # share of pairs in which the first is larger less the share in which it is smaller


Values = Sequence[float | None]


def paired(first: Values, second: Values) -> Paired:
    """Compare value by value, leaving out pairs of which one is missing."""
    found = differences(first, second)
    if not len(found):
        return Paired(0, None, None, None, None, None)
    low, high = bootstrap(list(found))
    return Paired(len(found), float(found.mean()), low, high, float(np.median(found)), float(np.sign(found).mean()))


def differences(first: Values, second: Values) -> np.ndarray:
    """Return first minus second of the pairs in which it is known."""
    return np.asarray([each for each in differences_of(first, second) if each is not None], dtype=float)


def differences_of(first: Values, second: Values) -> list[float | None]:
    """Return the differences of pairs, missing where they are not known."""
    return [difference(a, b) for a, b in zip(first, second, strict=True)]


class AtLeast(float):
    """A lower bound of a value that is not known."""


def mean_of(values: Values) -> float | None:
    """Return the mean of the values that exist: a lower bound where one of them is."""
    known = [value for value in values if value is not None]
    bound = any(isinstance(value, AtLeast) for value in known)
    return (AtLeast if bound else float)(fmean(known)) if known else None


def difference(first: float | None, second: float | None) -> float | None:
    """Return first minus second; none where one is missing, or where a bound leaves open which is larger."""
    if first is None or second is None:
        return None
    bounds = [value for value in (first, second) if isinstance(value, AtLeast)]
    return None if len(bounds) == 2 or (bounds and bounds[0] < max(first, second)) else first - second


def effect_word(delta: float | None) -> str | None:
    """Name the size of a delta (thresholds of Romano and others, 2006)."""
    if delta is None:
        return None
    sizes = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"))
    return next((name for most, name in sizes if abs(delta) < most), "large")
