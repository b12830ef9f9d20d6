# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of SEARCH: bins, windows, the normalised difference, and the exit."""

import numpy as np
import polars as pl

from lab.tables.downloads import FLOW
from lab_conform.view import View, some


def bin_over_rtt(view: View) -> float:
    """Return the length of a bin over the first RTT of data."""
    return float(_bins(view)["bin_ms"][0]) / _first_rtt_ms(view)


def bin_rtt_change(view: View) -> float:
    """Return the longest bin over the shortest."""
    lengths = _bins(view)["bin_ms"]
    return float(lengths.max()) / float(lengths.min())  # type: ignore[arg-type]


def first_decided_bin(view: View) -> float:
    """Return the number of the first bin with a normalised difference."""
    decided = _decided(view)
    return float(decided["bin"][0])


def norm_at_exit_pct(view: View) -> float:
    """Return the normalised difference at the exit."""
    left = some(_bins(view).filter(pl.col("exit")), "SEARCH does not leave slow start")
    return float(left["norm_pct"][0])


def most_norm_before_exit_pct(view: View) -> float:
    """Return the largest normalised difference of a bin before the exit."""
    stayed = _decided(view).filter(~pl.col("exit"))
    ended = _bins(view).filter(pl.col("exit"))
    if ended.height:
        stayed = stayed.filter(pl.col("t_s") < ended["t_s"][0])
    return float(some(stayed, "no bin is decided before the exit")["norm_pct"].max())  # type: ignore[arg-type]


def bin_bytes_error_pct(view: View) -> float:
    """Return how far a bin's delivered bytes lie from those that the ACKs show, at most, in ten bins' worth."""
    worst = 0.0
    for row in _decided(view).iter_rows(named=True):
        begin_s = row["t_s"] - 10 * row["bin_ms"] / 1e3
        first, last = (int(np.searchsorted(view.t_s, t_s)) for t_s in (begin_s, row["t_s"] + 1e-9))
        if first == 0 or last >= len(view.una_bytes):
            continue
        counted = float(view.una_bytes[last] - view.una_bytes[first])
        spread = max(view.rtt_s * 0.35, 1e-3) / (10 * row["bin_ms"] / 1e3)
        error = abs(row["curr_delv_bytes"] - counted) / max(counted, 1)
        worst = max(worst, error - spread)
    return 100 * max(worst, 0.0)


def norm_error_points(view: View) -> float:
    """Return how far a normalised difference lies from what its own counts give, at most, in points.

    What is expected is twice what was delivered before, or what was sent then.
    """
    decided = _decided(view)
    ratio = decided["curr_delv_bytes"] / decided["prev_delv_bytes"]
    errors = [(100 * (1 - ratio / factor) - decided["norm_pct"]).abs().max() for factor in (2, 1)]
    return min(float(each) for each in errors)  # type: ignore[arg-type]


def _bins(view: View) -> pl.DataFrame:
    return some(view.trial.bins.filter(pl.col("flow") == FLOW), "the sender has no bins")


def _decided(view: View) -> pl.DataFrame:
    return some(_bins(view).filter(pl.col("norm_pct").is_not_null()), "no bin is decided")


def _first_rtt_ms(view: View) -> float:
    return float(view.srtt_ms[np.flatnonzero(view.una_bytes > 1)[0]])
