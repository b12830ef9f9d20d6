# SPDX-License-Identifier: GPL-2.0-or-later
"""What figures over many trials need of each one: so little that thousands of trials fit into one small table."""

from typing import TypedDict

import numpy as np
import polars as pl

from lab.base.stats import largest
from lab.judge.ack_stream import ack_stream
from lab.judge.frames import Schema
from lab.judge.slow_start import first_exit
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

OBJECT_BYTES = 100_000  # the papers' step of object sizes
OBJECTS = 200  # up to 20 MB
AHEAD_S = 10.0  # how far beyond the download a recording goes on; where a link changes, a longer wait counts as this


class Numbers(TypedDict):
    """What figures over many trials need of one trial."""

    initial_rtt_ms: float | None
    max_rtt_ms: float | None
    wait_ms: float | None
    end_s: float
    packets: str
    download_s: list[float | None]


SCHEMA: Schema = {
    "initial_rtt_ms": pl.Float64,
    "max_rtt_ms": pl.Float64,
    "wait_ms": pl.Float64,
    "end_s": pl.Float64,
    "packets": pl.String,
    "download_s": pl.List(pl.Float64),
}


def digest(trial: Trial) -> Numbers:
    """Return RTTs of slow start, the mean wait at the bottleneck, when the download ended and had each object size."""
    stream = ack_stream(trial.acks, FLOW)
    left = first_exit(trial.exits, FLOW)
    until_us = left.t_s * 1e6 if left else float("inf")
    rtt_ms = stream.filter(pl.col("t_us") <= until_us)["rtt_us"] / 1e3
    return {
        "initial_rtt_ms": rtt_ms[0] if rtt_ms.len() else None,
        "max_rtt_ms": largest(rtt_ms),
        "wait_ms": mean_wait_ms(trial),
        "end_s": trial.end_s,
        "packets": trial.packets_digest,
        "download_s": _download_s(trial.packets),
    }


def _download_s(packets: pl.DataFrame) -> list[float | None]:
    """When the client had the first n * OBJECT_BYTES bytes of the download, whole and in order."""
    sent = packets.filter((pl.col("flow") == FLOW) & ~pl.col("to_client"))
    # The client acknowledges what it has without a gap.
    had_bytes = np.maximum.accumulate(sent["ack_bytes"].fill_null(0).to_numpy()) - 1  # the SYN counts as a byte
    first = np.searchsorted(had_bytes, OBJECT_BYTES * np.arange(1, OBJECTS + 1))
    times_s = [*sent["t_s"].gather(first[first < len(had_bytes)])]
    return times_s + [None] * (OBJECTS - len(times_s))


def mean_wait_ms(trial: Trial) -> float | None:
    """Return the mean over the samples of the time that the link, as it changes, then needs for what is queued."""
    flow = next(flow for flow in trial.meta["flows"] if flow["flow"] == FLOW)
    table = trial.qdisc
    shown = table.filter((table["t_s"] >= flow["data_s"]) & (table["t_s"] <= flow["end_s"]))
    if shown.is_empty():
        return None
    at_s, backlog_bytes = shown["t_s"].to_numpy(), shown["backlog_bytes"].to_numpy()
    empty_s = trial.link.time_of_bytes(trial.link.sent_bytes(at_s) + backlog_bytes)
    known_until_s = at_s[-1] + AHEAD_S if trial.link.changes else np.inf
    waits_s = np.clip(np.minimum(empty_s, known_until_s) - at_s, 0, None)
    return float(1000 * np.mean(np.where(backlog_bytes > 0, waits_s, 0)))
