# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of the congestion window: how it grows, by ACK, by round and in congestion avoidance."""

import numpy as np

from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab_conform.view import Unmeasured, View, first

MOST_ROUNDS = 100


def initial_window_pkts(view: View) -> float:
    """Return the window before the first ACK of data."""
    return float(view.cwnd_pkts[_first_data_ack(view)])


def growth_per_ack_pkts(view: View) -> float:
    """Return the most that one ACK of slow start added to the window."""
    rows = _slow_start(view)
    return float(np.max(np.diff(view.cwnd_pkts[rows])))


def growth_per_segment(view: View) -> float:
    """Return the most that one acknowledged segment of slow start added to the window."""
    rows = _slow_start(view)
    acked = np.diff(view.una_bytes[rows]) / view.mss_bytes
    grown = np.diff(view.cwnd_pkts[rows])
    return float(np.max(grown[acked > 0] / np.ceil(acked[acked > 0])))


def round_growth(view: View, round: int, event: int = -1) -> float:  # noqa: A002 (the word of the texts)
    """Return by what factor the window grew in a round, the first being 0, since an event (-1: since the first ACK).

    The last ACK of a round may acknowledge more than it: the growth is that for a window's bytes.
    """
    begin = _first_data_ack(view) if event < 0 else view.after(view.events_s[event])
    row, last = _rounds(view, begin, round + 1, of_window=True)[round:]
    acknowledged_pkts = (view.una_bytes[last] - view.una_bytes[row]) / view.mss_bytes
    return float(1 + (view.cwnd_pkts[last] - view.cwnd_pkts[row]) / acknowledged_pkts)


def least_round_growth(view: View, rounds: int, event: int = -1, skip: int = 0) -> float:
    """Return the least factor of some rounds."""
    return min(round_growth(view, number, event) for number in range(skip, rounds))


def most_round_growth(view: View, rounds: int, event: int = -1, skip: int = 0) -> float:
    """Return the largest factor of some rounds."""
    return max(round_growth(view, number, event) for number in range(skip, rounds))


def added_per_rtt_pkts(view: View, number: int = 1, after_rtts: float = 2.0, rtts: float = 20.0) -> float:
    """Return the packets by which the window grows in a round trip, after a reduction of the threshold."""
    begin_s = opened_s(view, number) + after_rtts * view.rtt_s
    row, last = view.after(begin_s), view.row(begin_s + rtts * view.rtt_s)
    mean_rtt_s = float(np.mean(view.srtt_ms[row:last])) / 1e3
    elapsed_rtts = (view.t_s[last] - view.t_s[row]) / mean_rtt_s
    return float((view.cwnd_pkts[last] - view.cwnd_pkts[row]) / elapsed_rtts)


def most_added_per_rtt(view: View, number: int = 1) -> float:
    """Return the largest factor by which the window grows in one round trip, after a reduction."""
    begin = view.after(opened_s(view, number))
    later = np.searchsorted(view.t_s, view.t_s[begin:] + view.rtt_s)
    kept = later < len(view.t_s)
    return float(np.max(view.cwnd_pkts[later[kept]] / view.cwnd_pkts[begin:][kept]))


def window_pkts(view: View, event: int, plus_rtts: float = 0.0) -> float:
    """Return the window so long after an event."""
    return float(view.cwnd_pkts[view.row(view.events_s[event] + plus_rtts * view.rtt_s)])


def least_window_pkts(view: View, after_s: float = 0.0) -> float:
    """Return the smallest window from a time on."""
    return float(np.min(view.cwnd_pkts[view.row(after_s) :]))


def most_window_pkts(view: View, after_s: float = 0.0) -> float:
    """Return the largest window from a time on."""
    return float(np.max(view.cwnd_pkts[view.row(after_s) :]))


def most_flight_over_window_pkts(view: View) -> float:
    """Return by how much what is sent and not acknowledged passes the window at most, outside of recovery."""
    flight = (view.nxt_bytes - view.una_bytes) / view.mss_bytes
    calm = view.acks["t_s"].to_numpy() < (view.states[1][0] if len(view.states) > 1 else np.inf)
    return float(np.max((np.ceil(flight) - view.cwnd_pkts)[calm]))


def most_flight_over_receive_window_bytes(view: View) -> float:
    """Return by how much what is sent passes the receiver's window at most."""
    flight = view.nxt_bytes - view.una_bytes
    return float(np.max(flight - view.acks["snd_wnd_bytes"].to_numpy().astype(np.int64)))


def mean_window_pkts(view: View, from_s: float = 0.0) -> float:
    """Return the mean window over the ACKs from a time on."""
    return float(np.mean(view.cwnd_pkts[view.row(from_s) :]))


def growth_after_exit_pkts(view: View, after_s: float) -> float:
    """Return by how much the window grew in a time, from the end of slow start."""
    begin = view.row(_at_exit(view, "t_s"))
    return float(view.cwnd_pkts[view.row(view.t_s[begin] + after_s)] - view.cwnd_pkts[begin])


def growth_after_pause_pkts(view: View, pause_s: float, rtts: float) -> float:
    """Return by how much the window grew in some round trips behind the first pause of such a length between ACKs."""
    begin = first(np.diff(view.t_s) >= pause_s, f"the sender never paused for {pause_s:g} s") + 1
    return float(view.cwnd_pkts[view.row(view.t_s[begin] + rtts * view.rtt_s)] - view.cwnd_pkts[begin])


def exit_cause(view: View) -> str:
    """Return why slow start ended; `none` while it lasts."""
    return str(view.exit["cause"]) if view.exit else "none"


def exit_round(view: View, event: int) -> float:
    """Return the round after an event in which slow start ends, the first being 0."""
    return _rounds_to_exit(view, view.after(view.events_s[event]))


def exit_threshold_over_window(view: View) -> float:
    """Return the threshold after slow start over the window at its end."""
    return _at_exit(view, "ssthresh_pkts") / _at_exit(view, "cwnd_pkts")


def threshold_before_loss(view: View) -> str:
    """Return whether there is a threshold before the first event: `none` or `set`."""
    row = max(view.after(view.events_s[0]) - 1, 0) if view.events_s else len(view.t_s) - 1
    return "none" if np.isinf(view.ssthresh_pkts[row]) else "set"


def reduced_s(view: View, number: int) -> float:
    """Return when a loss, a mark or a timeout lowers the threshold, counted from 1."""
    if len(view.reductions_s) < number:
        raise Unmeasured(f"the window is reduced {len(view.reductions_s)} times, not {number}")
    return view.reductions_s[number - 1]


def opened_s(view: View, number: int) -> float:
    """Return when the state becomes open again after the reduction of a number, counted from 1."""
    begun_s = reduced_s(view, number)
    opened = [t_s for t_s, state in view.states if state == "open" and t_s >= begun_s]
    if not opened:
        raise Unmeasured("recovery never ends")
    return opened[0]


def _at_exit(view: View, name: str) -> float:
    if not view.exit:
        raise Unmeasured("slow start never ends")
    return float(str(view.exit[name]))


def _first_data_ack(view: View) -> int:
    began_s = view.data.t_s[0] - view.rtt_s / 2 if len(view.data.t_s) else np.inf  # a handshake over QUIC has bytes
    return first((view.nxt_bytes > 1) & (view.t_s >= began_s), "no data was acknowledged")


def _slow_start(view: View) -> slice:
    ended = np.flatnonzero(np.isfinite(view.ssthresh_pkts))
    disorder = [view.after(t_s) for t_s, state in view.states if state != "open"]
    end = min([len(view.t_s), *ended[:1].tolist(), *disorder[:1]])
    begin = _first_data_ack(view)
    if end - begin < 2:
        raise Unmeasured("there is no slow start")
    return slice(begin, end)


def _rounds(view: View, begin: int, count: int, *, of_window: bool = False) -> list[int]:
    """Return the rows at which rounds begin: one ends with the ACK of all that was sent at its begin.

    `of_window`: and of a whole window, of which a sender that paces has sent only a part then.
    """
    found, until_bytes = [begin], view.nxt_bytes
    if of_window:
        until_bytes = np.maximum(until_bytes, view.una_bytes + view.cwnd_pkts * view.mss_bytes)
    for _ in range(count):
        later = np.flatnonzero(view.una_bytes[found[-1] :] >= until_bytes[found[-1]])
        if not len(later) or found[-1] >= len(view.t_s) - 1:
            raise Unmeasured(f"the trial ends before round {count - 1}")
        found.append(found[-1] + max(int(later[0]), 1))
    return found


def exit_window_over_round(view: View, event: int, round: int) -> float:  # noqa: A002 (the word of the texts)
    """Return the window at the end of slow start over that at the begin of a round after an event."""
    begin = _rounds(view, view.after(view.events_s[event]), round)[round]
    return _at_exit(view, "cwnd_pkts") / float(view.cwnd_pkts[begin])


def exit_rounds_after_full(view: View) -> float:
    """Return the rounds from when the window first fills the link to the end of slow start."""
    full_pkts = view.link.rate_mbps * 1e6 / 8 * view.rtt_s / FRAME_BYTES
    return _rounds_to_exit(view, first(view.cwnd_pkts >= full_pkts, "the window never fills the link"))


def plateau_rounds(view: View, growth: float = 1.25) -> float:
    """Return the rounds up to the end of slow start that began with a delivery rate of less than a factor more.

    They are counted back from the end: a round begins with the ACK of what was sent behind the ACK that began the one
    before, and its rate is from that ACK to its own.
    """
    got_bytes, t_s = view.una_bytes[1:], view.t_s[:-1]  # behind each ACK, and when it came
    sent = np.searchsorted(view.nxt_bytes[:-1], got_bytes) - 1  # the ACK behind which was sent what each acknowledges
    begins, least = [min(view.after(_at_exit(view, "t_s")), len(t_s) - 1)], _first_data_ack(view)
    while sent[begins[-1]] >= least:
        begins.append(int(sent[begins[-1]]))
    base, count = 0.0, 0
    for row, before in zip(begins[-2::-1], begins[:0:-1], strict=True):
        rate = (got_bytes[row] - got_bytes[before]) / (t_s[row] - t_s[before])
        base, count = (rate, 0) if rate >= growth * base else (base, count + 1)
    return float(count)


def _rounds_to_exit(view: View, begin: int) -> float:
    """Return the number of the round, from 0 on, in which slow start ends."""
    return float(len(_ends_to_exit(view, begin)) - 2)


def _ends_to_exit(view: View, begin: int) -> list[int]:
    """Return the rows at which rounds begin, up to the end of slow start."""
    row, ends = view.after(_at_exit(view, "t_s")), [begin]
    while ends[-1] < row and len(ends) < MOST_ROUNDS:
        ends = _rounds(view, begin, len(ends))
    return ends


def first_dip_s(view: View, below_pkts: float, after_s: float) -> float:
    """Return when the window first falls below a size, from a time on."""
    return float(view.t_s[_dip(view, below_pkts, after_s)[0]])


def dip_length_s(view: View, below_pkts: float, after_s: float) -> float:
    """Return how long the window stays below a size the first time, from a time on."""
    begin, end = _dip(view, below_pkts, after_s)
    return float(view.t_s[end] - view.t_s[begin])


def _dip(view: View, below_pkts: float, after_s: float) -> tuple[int, int]:
    low = (view.cwnd_pkts < below_pkts) & (view.t_s >= after_s)
    begin = first(low, f"the window never falls below {below_pkts:g} packets")
    return begin, begin + first(~low[begin:], "the trial ends before the window rises again")
