# SPDX-License-Identifier: GPL-2.0-or-later
"""What bins cost: the normalised difference from bins against the exact one from every ACK (thesis, section 4.2)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from lab_papers.evaluation.search.replay import Download
from lab_papers.search_replay import replay, version

Floats = npt.NDArray[np.float64]


def compared(bins: pl.DataFrame, delivered: Callable[[Floats], Floats], window_bins: int) -> pl.DataFrame:
    """t_s, binned_pct, exact_pct and error_pct where the bins allow a comparison.

    Exact: the same windows ending at the same instants, but counted ACK by ACK instead of bin by bin. `delivered`
    returns the bytes acknowledged until each time.
    """
    compared_bins = bins.filter(pl.col("norm_pct").is_not_null())
    t_s, rtt_s = compared_bins["t_s"].to_numpy(), compared_bins["rtt_ms"].to_numpy() / 1e3
    window_s = window_bins * compared_bins["bin_ms"].to_numpy() / 1e3
    now = delivered(t_s) - delivered(t_s - window_s)
    twice = 2 * (delivered(t_s - rtt_s) - delivered(t_s - rtt_s - window_s))
    exact_pct = 100 * np.divide(twice - now, twice, out=np.full_like(twice, np.nan), where=twice > 0)
    table = pl.DataFrame({"t_s": t_s, "binned_pct": compared_bins["norm_pct"], "exact_pct": exact_pct})
    return table.with_columns(error_pct=pl.col("binned_pct") - pl.col("exact_pct")).filter(
        pl.col("exact_pct").is_finite()
    )


def mean_error(table: pl.DataFrame) -> float | None:
    """Return the mean error of a comparison, in points of the normalised difference; null of an empty one."""
    return float(table["error_pct"].abs().to_numpy().mean()) if table.height else None


def bins_error_points(library: Path, one: Download, name: str) -> float | None:
    """Return the mean error of a version's bins over a download, until it would have left slow start."""
    form = version(library, name)
    streams = (one.t_us, one.rtt_us, one.delivered_bytes)
    bins = replay(library, *streams, form.params, sent_bytes=one.sent_bytes, compact=form.compact)
    return mean_error(compared(bins, lambda t_s: _held(one, t_s), form.params.bins))


def _held(one: Download, t_s: Floats) -> Floats:
    """Return the bytes acknowledged until each time: those after its last ACK, and none before the first."""
    index = np.searchsorted(one.t_us, np.round(t_s * 1e6), "right") - 1
    return np.where(index < 0, 0.0, one.delivered_bytes[np.maximum(index, 0)].astype(np.float64))
