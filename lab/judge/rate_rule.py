# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge a trial by a rate that stands for the link's capacity."""

from lab.judge.classify import by_bitrate
from lab.judge.rule import Evidence, Judgement
from lab.judge.window_rate import first_reached_s
from lab.tables.downloads import FLOW


def judge_by_rate(evidence: Evidence, rate_mbps: float | None) -> Judgement:
    """Compare the exit bitrate with a rate; the capacity time is when the window first reached that rate."""
    reached_s = first_reached_s(evidence.trial.acks, evidence.trial.meta["mss_bytes"], rate_mbps, FLOW)
    exit_class = by_bitrate(evidence.exit, evidence.exit_bitrate_mbps, rate_mbps, evidence.signal_s)
    return Judgement(reached_s, exit_class, rate_mbps)
