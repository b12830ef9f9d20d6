# SPDX-License-Identifier: GPL-2.0-or-later
"""An estimate of ours to compare with a published value: its 95 % interval and its number of trials.

A published standard deviation is a value of its own: the metric with SPREAD behind it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from lab.base import stats
from lab.judge.summary import CLASSES
from lab_papers.search_replay import EXTRA_BINS, needed_bins

SHARES = (*(f"{name}_pct" for name in CLASSES), "timely_pct")
BINS_SUFFICE = "bins_suffice_pct"
CAPACITY_FOUND = "capacity_found_pct"
IN_POINTS = (*SHARES, BINS_SUFFICE, CAPACITY_FOUND)  # their tolerance is in percentage points
SPREAD = "_sd"
# Of the rival's flow over the one under test: columns of the table `flows`.
RATIOS = ("throughput_ratio", "retransmits_ratio", "rtt_ratio", "startup_ratio")
LARGEST = ("largest_rtt_s", "largest_rtt_ratio")  # the largest value of all downloads, which has no interval
# They depend on the at-capacity rule.
BY_CAPACITY = ("capacity_s", "median_mbps", "detection_rtts", "after_capacity_s", CAPACITY_FOUND)


@dataclass(frozen=True)
class Estimate:
    """An estimate from our trials; null where no trial has the value."""

    value: float | None
    lo: float | None
    hi: float | None
    trials: int


def of_rows(rows: pl.DataFrame, metric: str) -> Estimate:
    """Estimate a metric over rows with exit_class, exit_s, loss_s, and so on."""
    if metric in SHARES:
        return _share(rows["exit_class"].drop_nulls(), metric.removesuffix("_pct"))
    if metric == BINS_SUFFICE:
        return _hits(needed_bins(rows) <= EXTRA_BINS)
    if metric == CAPACITY_FOUND:
        return _hits(rows["capacity_s"].is_not_null())
    of = metric.removesuffix(SPREAD)
    values = values_of(rows, of)
    if metric in LARGEST:
        return Estimate(stats.largest(values), None, None, values.drop_nulls().len())
    return mean_of(values) if metric == of else spread_of(values)


def values_of(rows: pl.DataFrame, metric: str) -> pl.Series:
    """Return one value per row: a column, or what follows from several."""
    after_s = pl.col("exit_s") - pl.col("capacity_s")
    detected = (pl.col("exit_cause") == "search") & (pl.col("exit_class") != "early")
    made = {
        "headroom_s": pl.col("loss_s") - pl.col("exit_s"),
        "after_capacity_s": after_s,
        "detection_rtts": pl.when(detected).then(after_s * 1e3 / pl.col("min_rtt_ms")),
        "largest_rtt_s": pl.col("max_rtt_ms") / 1e3,
        "largest_rtt_ratio": pl.col("max_rtt_ms") / pl.col("initial_rtt_ms"),
    }
    return rows.select(value=made.get(metric, pl.col(metric)))["value"]


def ratio_of(first: pl.Series, second: pl.Series) -> Estimate:
    """Estimate the ratio of two means over the pairs of which both values exist, by resampling whole pairs."""
    pairs = pl.DataFrame({"first": first, "second": second}).drop_nulls().cast(pl.Float64).to_numpy()
    if not len(pairs) or not pairs[:, 1].any():
        return Estimate(None, None, None, len(pairs))
    value = float(pairs[:, 0].mean() / pairs[:, 1].mean())
    return Estimate(value, *_ratio_interval(pairs), len(pairs))


def _ratio_interval(pairs: np.ndarray) -> tuple[float | None, float | None]:
    """95 % interval of the ratio of two columns' means, by the percentiles of resampled rows; none of fewer than 6."""
    if len(pairs) < stats.FEWEST_VALUES:
        return None, None
    rng = np.random.default_rng(stats.RESAMPLING_SEED)
    means = pairs[rng.integers(len(pairs), size=(stats.RESAMPLES, len(pairs)))].mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # a resample may divide by zero: it is infinite, and outermost
        drawn = means[:, 0] / means[:, 1]
    low, high = np.nanquantile(drawn, [(1 - stats.CONFIDENCE) / 2, (1 + stats.CONFIDENCE) / 2], method="nearest")
    return float(low), float(high)


def mean_of(values: pl.Series) -> Estimate:
    """Mean of the values that exist."""
    known = values.drop_nulls()
    return Estimate(stats.mean_sd(known)[0], *stats.bootstrap(known.to_list()), known.len())


def spread_of(values: pl.Series) -> Estimate:
    """Estimate the standard deviation of the values that exist."""
    known = values.drop_nulls()
    return Estimate(stats.mean_sd(known)[1], *stats.bootstrap(known.to_list(), partial(np.std, ddof=1)), known.len())


def _share(classes: pl.Series, name: str) -> Estimate:
    return _hits(classes != "early" if name == "timely" else classes == name)


def _hits(known: pl.Series) -> Estimate:
    hits, count = int(known.sum()), known.drop_nulls().len()
    return Estimate(stats.share_pct(hits, count), *stats.wilson_pct(hits, count), count)
