# SPDX-License-Identifier: GPL-2.0-or-later
"""How many bins SEARCH must keep to look one round trip back (thesis, equation 4.5)."""

import polars as pl

WINDOW_BINS, WINDOW_RTTS, EXTRA_BINS = 10, 3.5, 15  # SEARCH's (thesis, algorithm 1)


def needed_bins(trials: pl.DataFrame) -> pl.Series:
    """Return the extra bins that each trial's largest round trip of slow start needs; null where it has none."""
    ratio = pl.col("max_rtt_ms") / pl.col("initial_rtt_ms")
    return trials.select(bins=(ratio * WINDOW_BINS / WINDOW_RTTS).ceil())["bins"]
