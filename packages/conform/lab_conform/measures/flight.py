# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of packets alone: of any sender."""

import numpy as np

from lab_conform.view import Unmeasured, View

GAP_RTTS = 0.9  # a flight ends where so long nothing comes, or where the first ACK's data may


def first_flight_pkts(view: View) -> float:
    """Return the segments that came before the sender can have had an ACK of the first."""
    return float(len(_first_flight(view)))


def first_flight_bytes(view: View) -> float:
    """Return the bytes of the first flight."""
    return float(view.data.len_bytes[: len(_first_flight(view))].sum())


def flight_after_pause_pkts(view: View, pause_s: float = 0.5) -> float:
    """Return the segments of the flight that follows the first pause of such a length."""
    begin = _after_pause(view, pause_s)
    t_s = view.data.t_s
    return float(np.sum((t_s >= t_s[begin]) & (t_s < t_s[begin] + GAP_RTTS * view.rtt_s)))


def duplicate_acks_before_repeat(view: View, event: int = 0) -> float:
    """Return the duplicate ACKs that the sender can have got when it first repeats the lost segment."""
    lost = _lost(view, event)
    acks = view.client_acks
    repeat_s = _repeat_s(view, lost) - view.rtt_s
    duplicates = (acks.ack_bytes == lost) & (acks.t_s <= repeat_s + 1e-4)
    return float(max(np.sum(duplicates) - 1, 0))


def repair_rtts(view: View, event: int = 0) -> float:
    """Return the time from a segment's loss to its arrival, in round trips."""
    return float((_repeat_s(view, _lost(view, event)) - view.events_s[event]) / view.rtt_s)


def needless_repeats_pkts(view: View) -> float:
    """Return the segments that came to the client twice."""
    return float(len(view.data.seq_bytes) - len(np.unique(view.data.seq_bytes)))


def most_repeat_share_pct(view: View) -> float:
    """Return the share of repeated segments in all that came."""
    return 100 * needless_repeats_pkts(view) / max(len(view.data.seq_bytes), 1)


def _first_flight(view: View) -> list[int]:
    t_s = view.data.t_s
    if not len(t_s):
        raise Unmeasured("no data segment came")
    return [int(n) for n in np.flatnonzero(t_s < t_s[0] + GAP_RTTS * view.rtt_s)]


def _after_pause(view: View, pause_s: float) -> int:
    found = np.flatnonzero(np.diff(view.data.t_s) >= pause_s)
    if not len(found):
        raise Unmeasured(f"the sender never paused for {pause_s:g} s")
    return int(found[0]) + 1


def _lost(view: View, event: int) -> int:
    if event >= len(view.dropped) or not view.dropped[event]:
        raise Unmeasured(f"event {event} loses no packet")
    return view.dropped[event][0]


def _repeat_s(view: View, seq_bytes: int) -> float:
    came = view.data.t_s[view.data.seq_bytes == seq_bytes]
    if not len(came):
        raise Unmeasured("the lost segment was never repeated")
    return float(came[0])
