# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of Careful Resume: the jump, its pace, and the retreat. PipeSize is what RFC 9959 says, from the packets."""

import numpy as np

from lab_conform.measures.recovery import _reduced
from lab_conform.measures.window import opened_s
from lab_conform.view import Unmeasured, View

STEP_PKTS = 10  # an ACK that adds so much more than it acknowledges is a jump: more than an initial window


def jumps(view: View) -> float:
    """Return how often the window jumped."""
    return float(len(_jumps(view)))


def jump_pkts(view: View) -> float:
    """Return the window after the jump."""
    return float(view.cwnd_pkts[_jump(view) + 1])


def acked_at_jump_pkts(view: View) -> float:
    """Return the segments that were acknowledged when the window jumped."""
    return float((view.una_bytes[_jump(view) + 1] - 1) / view.mss_bytes)


def sent_after_jump_share(view: View, rtts: float) -> float:
    """Return the share of a part of the round trip after the jump in what is sent within all of it."""
    begin_s = view.t_s[_jump(view)] + view.rtt_s / 2
    inside = (view.data.t_s >= begin_s) & (view.data.t_s < begin_s + view.rtt_s)
    return float(np.sum(view.data.t_s[inside] < begin_s + rtts * view.rtt_s) / np.sum(inside))


def window_after_jump_pkts(view: View, plus_rtts: float) -> float:
    """Return the window so long after the jump."""
    return float(view.cwnd_pkts[_row_after_jump(view, plus_rtts)])


def window_over_flight_pkts(view: View, plus_rtts: float) -> float:
    """Return the window so long after the jump, less what is in flight then."""
    row = _row_after_jump(view, plus_rtts)
    return float(view.cwnd_pkts[row] - (view.nxt_bytes[row] - view.una_bytes[row]) / view.mss_bytes)


def growth_after_jump(view: View, from_rtts: float, to_rtts: float) -> float:
    """Return by what factor the window grew between two times after the jump."""
    return window_after_jump_pkts(view, to_rtts) / window_after_jump_pkts(view, from_rtts)


def retreat_over_half_pipe_pkts(view: View, counted: str = "all") -> float:
    """Return the largest window of the retreat, less half of PipeSize when the loss was found.

    `counted`: `all` that is acknowledged since the jump, or only what is `unvalidated`.
    """
    row = _reduced(view, 1)
    return float(np.max(_retreat(view)) - _pipe_pkts(view, view.t_s[row + 1], counted) / 2)


def growth_in_retreat_pkts(view: View) -> float:
    """Return by how much the window grew in the retreat, behind the first packet that is sent again."""
    return float(np.sum(np.maximum(np.diff(_retreat(view)), 0)))


def threshold_over_pipe(view: View) -> float:
    """Return the threshold behind the retreat over PipeSize at its end."""
    end_s = opened_s(view, 1)
    row = min(view.after(end_s) + 1, len(view.t_s) - 1)
    return float(view.ssthresh_pkts[row] / _pipe_pkts(view, end_s))


def _jumps(view: View) -> list[int]:
    """Return the rows of the ACKs at which the window jumped."""
    acked = np.diff(view.una_bytes) / view.mss_bytes
    return [int(row) for row in np.flatnonzero(np.diff(view.cwnd_pkts) > acked + STEP_PKTS)]


def _jump(view: View) -> int:
    found = _jumps(view)
    if not found:
        raise Unmeasured("the window never jumps")
    return found[0]


def _row_after_jump(view: View, plus_rtts: float) -> int:
    return view.row(view.t_s[_jump(view)] + plus_rtts * view.rtt_s)


def _retreat(view: View) -> np.ndarray:
    """Return the windows from the second ACK of the retreat to its end."""
    rows = slice(_reduced(view, 1) + 3, view.after(opened_s(view, 1)))
    if rows.stop - rows.start < 2:
        raise Unmeasured("the retreat has fewer than two ACKs")
    return view.cwnd_pkts[rows]


def _pipe_pkts(view: View, t_s: float, counted: str = "all") -> float:
    """Return PipeSize: what was in flight at the jump, and what is acknowledged since; repeats do not count."""
    row = _jump(view)
    flight = (view.nxt_bytes[row] - view.una_bytes[row + 1]) / view.mss_bytes
    came_s = view.data.t_s + view.rtt_s / 2
    first_bytes = view.nxt_bytes[row] if counted == "unvalidated" else 0
    _, first = np.unique(view.data.seq_bytes, return_index=True)
    sent_twice = np.flatnonzero(np.diff(view.data.seq_bytes) < 0) + 1
    rows = np.setdiff1d(first, sent_twice)
    inside = (came_s[rows] > view.t_s[row] + 1e-6) & (came_s[rows] <= t_s + 1e-4)
    return float(flight + np.sum(inside & (view.data.seq_bytes[rows] >= first_bytes)))
