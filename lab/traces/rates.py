# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates out of delivery opportunities."""

import numpy as np
import polars as pl

from lab.base.errors import field_error
from lab.traces.recording import Recording

PACKET_BITS = 1500 * 8  # what one opportunity carries
MOST_BINS = 50_000_000


def binned_mbps(recording: Recording, step_ms: float) -> pl.DataFrame:
    """Average the opportunities over steps of a fixed length: t_s (a step's begin), rate_mbps.

    The recording ends at its last opportunity, which counts into the last step; a last step that is cut short by the
    end is divided by what there is of it.
    """
    if not 0 < step_ms < float("inf"):
        raise field_error(recording.source, "step_ms", step_ms, "above 0")
    if recording.kind != "opportunities":
        raise field_error(recording.source, "kind", recording.kind, "opportunities, to be binned")
    rows = recording.frame.filter(pl.col("opportunities").is_not_null())
    # Whole microseconds: a step of 10 ms is no exact float, and its edges must not drift.
    t_us = np.rint(rows["t_s"].to_numpy() * 1e6).astype(np.int64)
    step_us, end_us = max(1, round(step_ms * 1e3)), int(t_us[-1])
    bins = -(-end_us // step_us)
    if not 0 < bins <= MOST_BINS:
        raise field_error(recording.source, "step_ms", step_ms, f"one that gives 1 to {MOST_BINS} steps (gives {bins})")
    packets = np.bincount(
        np.minimum(t_us // step_us, bins - 1), weights=rows["opportunities"].to_numpy(), minlength=bins
    )
    widths_us = np.full(bins, step_us, dtype=np.int64)
    widths_us[-1] = end_us - (bins - 1) * step_us
    return pl.DataFrame({"t_s": np.arange(bins) * step_us / 1e6, "rate_mbps": packets * PACKET_BITS / widths_us})
