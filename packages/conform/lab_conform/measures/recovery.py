# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of the reaction to loss: threshold, window, timeouts, and what is undone."""

import numpy as np

from lab_conform.measures.window import opened_s, reduced_s
from lab_conform.view import Floats, Unmeasured, View, first

LEAST_THRESHOLD_PKTS = 2  # RFC 5681, equation (4)


def threshold_ratio(view: View, number: int = 1) -> float:
    """Return the threshold after a reduction over the window before it; reductions count from 1."""
    row = _reduced(view, number)
    return float(view.ssthresh_pkts[row + 1] / view.cwnd_pkts[row])


def threshold_error_pkts(view: View, factor: float, number: int = 1) -> float:
    """Return how far the threshold lies from a share of the window before, in whole segments."""
    row = _reduced(view, number)
    return float(abs(view.ssthresh_pkts[row + 1] - np.floor(factor * view.cwnd_pkts[row])))


def threshold_above_pkts(view: View, factor: float, number: int = 1) -> float:
    """Return how far the threshold lies above a share of the window before, or two segments; below 0: under it."""
    row = _reduced(view, number)
    return float(view.ssthresh_pkts[row + 1] - max(np.floor(factor * view.cwnd_pkts[row]), LEAST_THRESHOLD_PKTS))


def threshold_above_flight_pkts(view: View, number: int = 1) -> float:
    """Return how far the threshold lies above half of what was in flight before, or two segments."""
    row = _reduced(view, number)
    flight_pkts = (view.nxt_bytes[row] - view.una_bytes[row]) / view.mss_bytes
    return float(view.ssthresh_pkts[row + 1] - max(np.floor(flight_pkts / 2), LEAST_THRESHOLD_PKTS))


def threshold_pkts(view: View, number: int = 1) -> float:
    """Return the threshold after a reduction."""
    return float(view.ssthresh_pkts[_reduced(view, number) + 1])


def threshold_lowered_again(view: View, number: int = 1) -> float:
    """Return the least threshold behind a reduction over the one that it left."""
    row = _reduced(view, number) + 1
    return float(np.min(view.ssthresh_pkts[row:]) / view.ssthresh_pkts[row])


def window_at_open_pkts(view: View, number: int = 1) -> float:
    """Return the window at the end of a recovery, less the threshold."""
    row = min(view.after(opened_s(view, number)) + 1, len(view.t_s) - 1)
    return float(view.cwnd_pkts[row] - view.ssthresh_pkts[row])


def sent_in_recovery_over_half_pkts(view: View) -> float:
    """Return the segments sent in the first recovery, less half of what was outstanding as its loss was found."""
    row, end = _reduced(view, 1), view.after(opened_s(view, 1))
    repeated = (view.repeats_s >= reduced_s(view, 1)) & (view.repeats_s < opened_s(view, 1))
    sent_pkts = (view.nxt_bytes[end] - view.nxt_bytes[row]) / view.mss_bytes + np.sum(repeated)
    return float(sent_pkts - (view.nxt_bytes[row] - view.una_bytes[row]) / view.mss_bytes / 2)


def reductions(view: View) -> float:
    """Return how often a loss, a mark or a timeout lowered the threshold."""
    return float(len(view.reductions_s))


def recoveries(view: View) -> float:
    """Return how often the sender entered fast recovery."""
    return state_entries(view, "recovery")


def timeouts(view: View) -> float:
    """Return how often the sender entered the state after a timeout."""
    return state_entries(view, "loss")


def duplicate_acks_before_repeat(view: View, event: int = 0) -> float:
    """Return the duplicate ACKs that came to the sender up to its first repeat behind an event."""
    repeats_s = view.repeats_s[view.repeats_s > view.events_s[event]]
    if not len(repeats_s):
        raise Unmeasured("the lost segment was never repeated")
    return float(np.sum((view.una_bytes == view.lost_bytes(event)) & (view.t_s <= repeats_s[0])))


def new_segments_on_duplicates(view: View, event: int = 0) -> float:
    """Return the new segments that the first two duplicate ACKs after a loss let out."""
    rows = np.flatnonzero(view.una_bytes == view.lost_bytes(event))
    if len(rows) < 3:
        raise Unmeasured("fewer than three duplicate ACKs came")
    row = rows[0]  # each row is from before its ACK: the one that raised it to the lost segment had a lower una
    return float(round((view.nxt_bytes[row + 2] - view.nxt_bytes[row]) / view.mss_bytes))


def window_after_timeout_pkts(view: View) -> float:
    """Return the window before the first ACK after a timeout."""
    return float(view.cwnd_pkts[_after_timeout(view)])


def growth_after_timeout(view: View, rtts: float) -> float:
    """Return by what factor the window grew in some round trips from the first ACK after a timeout on."""
    row = _after_timeout(view)
    return float(view.cwnd_pkts[view.row(view.t_s[row] + rtts * view.rtt_s)] / view.cwnd_pkts[row])


def window_over_threshold_after_timeout(view: View) -> float:
    """Return the window over the threshold at the first row at which slow start after the timeout is over."""
    row = _at_threshold(view)
    return float(view.cwnd_pkts[row] / view.ssthresh_pkts[row])


def first_timeout_ms(view: View) -> float:
    """Return the timer of the first timeout: its wait, or half of the next one, as it doubles, where that is less.

    A probe of the tail (RFC 8985) starts the timer again, so the first wait may hold the probe's, too.
    """
    lost_s = _timeout_s(view)
    waits_s = [lost_s - view.t_s[view.after(lost_s) - 1], *np.diff(_timeouts_s(view))[:1] / 2]
    return float(min(waits_s)) * 1e3


def least_backoff(view: View) -> float:
    """Return the least factor between the waits of two timeouts in a row."""
    return float(np.min(_backoffs(view)))


def most_backoff(view: View) -> float:
    """Return the largest factor between the waits of two timeouts in a row."""
    return float(np.max(_backoffs(view)))


def undone_window_ratio(view: View, event: int = 0, plus_rtts: float = 4.0) -> float:
    """Return the window some round trips after an event over that before it."""
    before = max(view.after(view.events_s[event]) - 1, 0)
    after = view.row(view.events_s[event] + plus_rtts * view.rtt_s)
    return float(view.cwnd_pkts[after] / view.cwnd_pkts[before])


def _reduced(view: View, number: int) -> int:
    """Return the row of the last ACK before the threshold is another, or at which it changes."""
    row = int(np.searchsorted(view.t_s, reduced_s(view, number) + 1e-7)) - 1
    if row + 1 >= len(view.t_s):
        raise Unmeasured("no ACK comes after the reduction")
    return max(row, 0)


def _timeout_s(view: View) -> float:
    times = [t_s for t_s, state in view.states if state == "loss"]
    if not times:
        raise Unmeasured("there was no timeout")
    return times[0]


def _after_timeout(view: View) -> int:
    return view.row(_timeout_s(view))


def _at_threshold(view: View) -> int:
    """Return the first row at which slow start after the timeout is over."""
    row = _after_timeout(view)
    over = view.cwnd_pkts[row:] >= view.ssthresh_pkts[row:]
    return row + first(over, "the window never comes to the threshold")


def _timeouts_s(view: View) -> Floats:
    """Return the times of repeated timeouts: of repeats with no ACK between them."""
    lost_s = _timeout_s(view)
    row = view.after(lost_s)
    end_s = view.t_s[row] if row < len(view.t_s) else np.inf
    return view.repeats_s[(view.repeats_s >= lost_s - 1e-6) & (view.repeats_s < end_s)]


def _backoffs(view: View) -> Floats:
    times = _timeouts_s(view)
    waits = np.diff(times)
    if len(waits) < 2:
        raise Unmeasured(f"{len(times)} timeouts in a row are too few")
    return waits[1:] / waits[:-1]


def least_threshold_pkts(view: View) -> float:
    """Return the smallest threshold of the trial."""
    known = view.ssthresh_pkts[np.isfinite(view.ssthresh_pkts)]
    if not len(known):
        raise Unmeasured("the sender never has a threshold")
    return float(np.min(known))


def state_entries(view: View, state: str) -> float:
    """Return how often the sender entered a congestion state."""
    return float(sum(1 for _, name in view.states if name == state))


def final_threshold(view: View) -> str:
    """Return whether the sender has a threshold at the end: `none` or `set`."""
    return "none" if np.isinf(view.ssthresh_pkts[-1]) else "set"


def threshold_at_the_end(view: View) -> str:
    """Return whether the threshold of the end is that before the first reduction: `same` or `other`."""
    return "same" if view.ssthresh_pkts[-1] == view.ssthresh_pkts[_reduced(view, 1)] else "other"


def growth_after_threshold_pkts(view: View, after_s: float) -> float:
    """Return by how much the window grew in a time, from the end of the slow start after a timeout."""
    begin = _at_threshold(view)
    return float(view.cwnd_pkts[view.row(view.t_s[begin] + after_s)] - view.cwnd_pkts[begin])
