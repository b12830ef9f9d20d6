# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates out of delivery opportunities, and the path's own RTT out of one measured under load."""

from dataclasses import replace

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
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


def running_minimum(recording: Recording, window_s: float) -> Recording:
    """Replace each RTT by the smallest within half a window before and after it.

    A probe that shares the link with a load waits in the load's queue; the smallest of its neighbours waited least.
    Rows without an answer stay without.
    """
    if "rtt_ms" not in recording.frame or recording.kind != "series":
        raise UserError(f"{recording.source}: rtt_ms: must be a series of round trips, to take its running minimum")
    if not 0 < window_s < float("inf"):
        raise field_error(recording.source, "window_s", window_s, "above 0")
    half_ns = max(1, round(window_s * 5e8))
    clock = recording.frame.select((pl.col("t_s") * 1e9).round().cast(pl.Int64).alias("t_ns"), "rtt_ms")
    least = clock.rolling("t_ns", period=f"{2 * half_ns}i", offset=f"-{half_ns}i", closed="both").agg(pl.min("rtt_ms"))
    known = pl.when(recording.frame["rtt_ms"].is_not_null()).then(least["rtt_ms"])
    note = f"rtt_ms is the running minimum over {window_s:g} s: a queue is out of it as far as it emptied meanwhile."
    return replace(recording, frame=recording.frame.with_columns(known.alias("rtt_ms")), notes=(*recording.notes, note))
