# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of the path: what got through, what waited, what was lost, and how two flows share it."""

import numpy as np
import polars as pl

from lab_conform.view import Unmeasured, View, first, some

NO_SAMPLES = "the queue has no samples then"


def goodput_share(view: View, from_s: float = 0.0, until_s: float = 1e9, of_mbps: float = 0.0) -> float:
    """Return what came to the client over what the link carries in a time; `of_mbps`: of this rate instead."""
    until_s = min(until_s, view.duration_s)
    inside = (view.data.t_s >= from_s) & (view.data.t_s < until_s)
    came_mbps = float(view.data.frame_bytes[inside].sum()) * 8 / 1e6 / (until_s - from_s)
    return came_mbps / (of_mbps or view.link.rate_mbps)


def goodput_after_event_share(view: View, event: int, plus_s: float, for_s: float, of_mbps: float = 0.0) -> float:
    """Return the share of the link's rate that is used some time after an event."""
    begin_s = view.events_s[event] + plus_s
    return goodput_share(view, begin_s, begin_s + for_s, of_mbps)


def queue_ms(view: View, percentile: float = 95.0, from_s: float = 0.0, of_mbps: float = 0.0) -> float:
    """Return how long the bottleneck's queue takes to drain, at a percentile of its samples from a time on.

    `of_mbps`: at this rate instead of the link's.
    """
    rows = some(view.trial.qdisc.filter(pl.col("t_s") >= from_s), NO_SAMPLES)
    waits_ms = rows["backlog_bytes"].to_numpy() * 8 / ((of_mbps or view.link.rate_mbps) * 1e3)
    return float(np.percentile(waits_ms, percentile))


def least_queue_ms(view: View, from_s: float, until_s: float) -> float:
    """Return the shortest time that the bottleneck's queue takes to drain within a time."""
    rows = some(view.trial.qdisc.filter(pl.col("t_s").is_between(from_s, until_s)), NO_SAMPLES)
    return float(rows["backlog_bytes"].min() or 0) * 8 / (view.link.rate_mbps * 1e3)  # type: ignore[arg-type]


def drops_pct(view: View, from_s: float = 0.0, until_s: float = 1e9) -> float:
    """Return the share of packets that the bottleneck drops in a time."""
    rows = some(view.trial.qdisc.filter(pl.col("t_s").is_between(from_s, until_s)), NO_SAMPLES)
    drops, sent = (float(rows[name][-1] - rows[name][0]) for name in ("drops_pkts", "sent_pkts"))
    return 100 * drops / max(drops + sent, 1)


def rival_share(view: View, from_s: float = 0.0) -> float:
    """Return the sender's share of what both flows got from a time on."""
    rows = view.trial.acks.filter(pl.col("t_s") >= from_s)
    got = [_acked(rows.filter(pl.col("flow") == flow)) for flow in (1, 2)]
    return got[0] / max(sum(got), 1)


def longest_silence_s(view: View, from_s: float = 0.0) -> float:
    """Return the longest time without a data segment at the client."""
    times = view.data.t_s[view.data.t_s >= from_s]
    if len(times) < 2:
        raise Unmeasured("fewer than two segments came then")
    return float(np.max(np.diff(times)))


def completion_s(view: View, size_mb: float) -> float:
    """Return when the client had so many millions of bytes, since the SYN."""
    _, firsts = np.unique(view.data.seq_bytes, return_index=True)
    rows = np.sort(firsts)
    got = np.cumsum(view.data.len_bytes[rows])
    had_mb = got[-1] / 1e6 if len(got) else 0
    whole = first(got >= size_mb * 1e6, f"the client has {had_mb:.2f} of {size_mb:g} MB at the end")
    return float(view.data.t_s[rows[whole]])


def _acked(rows: pl.DataFrame) -> float:
    acked = some(rows, "a flow has no ACK then")["snd_una_bytes"]
    return float(acked[-1] - acked[0])
