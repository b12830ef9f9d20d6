# SPDX-License-Identifier: GPL-2.0-or-later
"""An estimate of ours to compare with a published value: its 95 % interval and its number of trials.

A published standard deviation is a value of its own: the metric with SPREAD behind it.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from lab.base.stats import bootstrap, mean_sd, share_pct, wilson_pct
from lab.judge.summary import CLASSES

SHARES = (*(f"{name}_pct" for name in CLASSES), "timely_pct")
SPREAD = "_sd"
RATIOS = {"throughput_ratio": "throughput_mbps", "retransmits_ratio": "retransmits_pkts", "rtt_ratio": "rtt_ms"}


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
    of = metric.removesuffix(SPREAD)
    values = rows["loss_s"] - rows["exit_s"] if of == "headroom_s" else rows[of]
    return mean_of(values) if metric == of else spread_of(values)


def mean_of(values: pl.Series) -> Estimate:
    """Mean of the values that exist."""
    known = values.drop_nulls()
    return Estimate(mean_sd(known)[0], *bootstrap(known.to_list()), known.len())


def spread_of(values: pl.Series) -> Estimate:
    """Estimate the standard deviation of the values that exist."""
    known = values.drop_nulls()
    return Estimate(mean_sd(known)[1], *bootstrap(known.to_list(), partial(np.std, ddof=1)), known.len())


def _share(classes: pl.Series, name: str) -> Estimate:
    hits = int((classes != "early").sum() if name == "timely" else (classes == name).sum())
    return Estimate(share_pct(hits, classes.len()), *wilson_pct(hits, classes.len()), classes.len())
