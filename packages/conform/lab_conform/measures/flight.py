# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of packets alone: of any sender."""

import numpy as np
import polars as pl

from lab.tables.downloads import FLOW
from lab_conform.view import Floats, Unmeasured, View, first

LEAST_PROBES = 3  # of which two waits are known
GAP_RTTS = 0.9  # a flight ends where so long nothing comes, or where the first ACK's data may


def first_flight_pkts(view: View) -> float:
    """Return the segments that came before the sender can have had an ACK of the first."""
    return float(len(_first_flight(view)))


def first_flight_bytes(view: View) -> float:
    """Return the bytes of the first flight."""
    return float(view.data.len_bytes[: len(_first_flight(view))].sum())


def flight_after_pause_pkts(view: View, pause_s: float = 0.5, skip_rtts: float = 0.0) -> float:
    """Return the segments of the flight that follows the first pause of such a length, or some round trips later."""
    t_s = view.data.t_s
    begin_s = t_s[_after_pause(view, pause_s)] + skip_rtts * view.rtt_s
    return float(np.sum((t_s >= begin_s) & (t_s < begin_s + GAP_RTTS * view.rtt_s)))


def least_probe_backoff(view: View, event: int = 0) -> float:
    """Return the least factor between the waits of two probes in a row, while an event loses each ACK."""
    return float(np.min(_probe_backoffs(view, event)))


def most_probe_backoff(view: View, event: int = 0) -> float:
    """Return the largest factor between the waits of two probes in a row, while an event loses each ACK."""
    return float(np.max(_probe_backoffs(view, event)))


def repair_rtts(view: View, event: int = 0) -> float:
    """Return the time from a segment's loss to its arrival, in round trips."""
    return float((_repeat_s(view, view.lost_bytes(event)) - view.events_s[event]) / view.rtt_s)


def needless_repeats_pkts(view: View) -> float:
    """Return the segments that came to the client twice."""
    return float(len(view.data.seq_bytes) - len(np.unique(view.data.seq_bytes)))


def most_repeat_share_pct(view: View) -> float:
    """Return the share of repeated segments in all that came."""
    return 100 * needless_repeats_pkts(view) / max(len(view.data.seq_bytes), 1)


def _probe_backoffs(view: View, event: int) -> Floats:
    """Return the factors; what comes a round trip and more behind any other packet is a probe, of one packet or two."""
    begin_s, for_s = view.events_s[event], view.link.events[event].for_s or np.inf
    came = pl.col("to_client") & (pl.col("flow") == FLOW) & pl.col("t_s").is_between(begin_s, begin_s + for_s)
    t_s = view.trial.packets.filter(came)["t_s"].to_numpy()
    probes_s = t_s[1:][np.diff(t_s) > view.rtt_s]
    if len(probes_s) < LEAST_PROBES:
        raise Unmeasured(f"{len(probes_s)} probes in a row are too few")
    waits_s = np.diff(probes_s)
    return waits_s[1:] / waits_s[:-1]


def _first_flight(view: View) -> list[int]:
    t_s = view.data.t_s
    if not len(t_s):
        raise Unmeasured("no data segment came")
    return [int(n) for n in np.flatnonzero(t_s < t_s[0] + GAP_RTTS * view.rtt_s)]


def _after_pause(view: View, pause_s: float) -> int:
    return first(np.diff(view.data.t_s) >= pause_s, f"the sender never paused for {pause_s:g} s") + 1


def _repeat_s(view: View, seq_bytes: int) -> float:
    return float(view.data.t_s[first(view.data.seq_bytes == seq_bytes, "the lost segment was never repeated")])
