# SPDX-License-Identifier: GPL-2.0-or-later
"""How many bins SEARCH must keep to look one round trip back (thesis, equation 4.5)."""

import polars as pl

from lab_papers.search_replay import PRINTED

WINDOW_BINS, WINDOW_RTTS, EXTRA_BINS = PRINTED.bins, PRINTED.window_factor_tenths / 10, PRINTED.extra_bins


def needed_bins(trials: pl.DataFrame) -> pl.Series:
    """Return the extra bins that each trial's largest round trip of slow start needs; null where it has none."""
    ratio = pl.col("max_rtt_ms") / pl.col("initial_rtt_ms")
    return trials.select(bins=(ratio * WINDOW_BINS / WINDOW_RTTS).ceil())["bins"]
