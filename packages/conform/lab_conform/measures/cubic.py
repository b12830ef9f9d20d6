# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of CUBIC's growth, from RFC 9438's own formulas: W_cubic, K, W_est."""

import numpy as np

from lab_conform.measures.recovery import _reduced
from lab_conform.measures.window import added_per_rtt_pkts, opened_s
from lab_conform.view import REDUCING, Floats, Unmeasured, View, first

C, BETA = 0.4, 0.7
ALPHA = 3 * (1 - BETA) / (1 + BETA)


def cubic_error_pkts(
    view: View, number: int = 1, prior: float = 1.0, begin_k: float = 0.0, end_k: float = 1.0
) -> float:
    """Return how far the window lies outside of what a round trip earlier and later would have it, at most.

    `number` counts reductions; `prior` is W_max over the window before the reduction; times count in K.
    """
    t_s, cwnd_pkts, k_s, most_pkts = _epoch(view, number, prior)
    if t_s[-1] < end_k * k_s:
        raise Unmeasured(f"the epoch ends after {t_s[-1]:.1f} s, before {end_k:g} K ({end_k * k_s:.1f} s)")
    inside = (t_s >= begin_k * k_s) & (t_s <= end_k * k_s)
    low, high = (
        _expected(t_s[inside] + shift_s, k_s, most_pkts, cwnd_pkts[0], view.rtt_s)
        for shift_s in (-view.rtt_s, 2 * view.rtt_s)
    )
    window = cwnd_pkts[inside]
    return float(np.max(np.maximum(np.maximum(low - window, window - high), 0)))


def plateau_s(view: View, number: int = 1, prior: float = 1.0) -> float:
    """Return the time from the epoch's begin to W_max."""
    t_s, cwnd_pkts, _, most_pkts = _epoch(view, number, prior)
    return float(t_s[first(cwnd_pkts >= most_pkts - 0.5, "the window never comes to W_max")])


def plateau_over_k(view: View, number: int = 1, prior: float = 1.0) -> float:
    """Return the time from the epoch's begin to W_max over K."""
    return plateau_s(view, number, prior) / _epoch(view, number, prior)[2]


def friendly_share(view: View, number: int = 1, from_rtts: float = 2.0, rtts: float = 20.0) -> float:
    """Return the window's growth per round trip over that of W_est below the earlier window."""
    return added_per_rtt_pkts(view, number, from_rtts, rtts) / ALPHA


def curvature(view: View, number: int = 1, begin_k: float = 0.0, end_k: float = 1.0) -> str:
    """Return `concave` where the growth of the second half of a time is below that of the first, else `convex`."""
    t_s, cwnd_pkts, k_s, _ = _epoch(view, number, 1.0)
    marks = [int(np.searchsorted(t_s, each * k_s)) for each in (begin_k, (begin_k + end_k) / 2, end_k)]
    if marks[2] >= len(t_s):
        raise Unmeasured("the epoch ends before that")
    early, late = (cwnd_pkts[marks[n + 1]] - cwnd_pkts[marks[n]] for n in (0, 1))
    return "concave" if late < early else "convex"


def _epoch(view: View, number: int, prior: float) -> tuple[Floats, Floats, float, float]:
    """Return times and windows of an epoch, K and W_max."""
    before_pkts = float(view.cwnd_pkts[_reduced(view, number)])
    begin_s = opened_s(view, number)
    ends = [t_s for t_s, state in view.states if state in REDUCING and t_s > begin_s]
    rows = slice(view.after(begin_s) + 1, view.after(ends[0]) if ends else len(view.t_s))
    t_s, cwnd_pkts = view.t_s[rows] - begin_s, view.cwnd_pkts[rows]
    if len(t_s) < 2:
        raise Unmeasured("no ACK comes in the epoch")
    most_pkts = before_pkts * prior
    return t_s, cwnd_pkts, float(np.cbrt(max(most_pkts - cwnd_pkts[0], 0) / C)), most_pkts


def _expected(t_s: Floats, k_s: float, most_pkts: float, first_pkts: float, rtt_s: float) -> Floats:
    """Return the larger of W_cubic and W_est."""
    w_cubic = C * (t_s - k_s) ** 3 + most_pkts
    w_est = first_pkts + ALPHA * t_s / rtt_s
    return np.maximum(w_cubic, w_est)
