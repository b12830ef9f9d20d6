# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates out of delivery opportunities."""

import math

import numpy as np
import polars as pl

from lab.base.errors import field_error
from lab.traces import batches
from lab.traces.recording import Recording

PACKET_BITS = 1500 * 8  # what one opportunity carries
MOST_BINS = 50_000_000


def binned_mbps(recording: Recording, step_ms: float) -> pl.DataFrame:
    """Average the opportunities over equal steps: t_s (their begin), rate_mbps; the last ends with the recording."""
    if not 0 < step_ms < float("inf"):
        raise field_error(recording.source, "step_ms", step_ms, "above 0")
    if recording.kind != "opportunities":
        raise field_error(recording.source, "kind", recording.kind, "opportunities, to be binned")
    rows = recording.frame.drop_nulls("opportunities")
    end_s, step_s = float(rows["t_s"][-1]), step_ms / 1e3
    bins = math.ceil(end_s / step_s - batches.ROUNDING)
    if not 0 < bins <= MOST_BINS:
        raise field_error(recording.source, "step_ms", step_ms, f"one that gives 1 to {MOST_BINS} steps (gives {bins})")
    found = batches.binned(batches.column(iter([rows]), "opportunities"), step_s, step_s * 1e6 / PACKET_BITS, end_s)
    t_s, rate_mbps = map(np.concatenate, zip(*found, strict=True))
    return pl.DataFrame({"t_s": t_s, "rate_mbps": rate_mbps})
