# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge a trial by a rate that stands for the link's capacity, and by when the window reached that rate.

A window is a rate as the exit bitrate is computed: cwnd * MSS / RTT. Thesis, section 5.3.2: "'capacity' is the time for
the congestion window to hit the link's capacity"; section 5.2.2 makes a rate of the window by dividing it by the RTT.
The window is that after an ACK, the RTT that ACK's sample. The handshake delivers no data and does not count: the first
window can reach a slow link's rate with the first ACK of data.

Times that the sources publish confirm the reading: 0.01 s with a standard deviation of 0.004 s (thesis, table 5.2)
cannot come from the throughput in intervals of 15 ms, of which the first ends at 0.015 s.
"""

import polars as pl

from lab.judge.classify import by_bitrate
from lab.judge.rule import Evidence, Judgement


def judge_by_rate(evidence: Evidence, rate_mbps: float | None) -> Judgement:
    """Compare the exit bitrate with a rate; the capacity time is when the window first reached that rate."""
    reached_s = first_reached_s(evidence.windows, evidence.trial.meta["mss_bytes"], rate_mbps)
    exit_class = by_bitrate(evidence.exit, evidence.exit_bitrate_mbps, rate_mbps, evidence.signal_s)
    return Judgement(reached_s, exit_class, rate_mbps)


def first_reached_s(windows: pl.DataFrame, mss_bytes: int, rate_mbps: float | None) -> float | None:
    """Return the time of the first ACK whose window and RTT make the rate or more; null without a rate."""
    if rate_mbps is None:
        return None
    reached = windows.filter(pl.col("cwnd_pkts") * mss_bytes * 8 / 1000 >= rate_mbps * pl.col("rtt_ms"))
    return None if reached.is_empty() else float(reached.item(0, "t_s"))
