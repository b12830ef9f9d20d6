# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion window, round-trip time and queue until a little after the true capacity (thesis, figure 4.1)."""

import polars as pl

from lab.base.stats import largest, smallest
from lab.figures.cwnd_rtt import Limits, figure
from lab.figures.style import Drawing
from lab.figures.subject import Subject


def draw_beginning(subject: Subject) -> Drawing:
    """Draw the beginning of one trial: jitter before there is a queue."""
    moments = subject.moments
    full_s = moments.true_capacity_s or moments.last_s()
    until_s = 1.05 * full_s if full_s else subject.trial.end_s
    limits = Limits.of_path(subject.trial.meta)
    drawn = figure(subject.acks, subject.trial.qdisc, limits, moments, subject.sender, until_s)
    early = subject.acks.filter(pl.col("t_s") <= until_s)["srtt_ms"].drop_nulls()
    swing = f"smoothed RTT from {smallest(early) or 0:.0f} to {largest(early) or 0:.0f} ms"
    what = f"Window, smoothed RTT and queue until the link is full: {swing}"
    return Drawing(drawn, f"{what}. {subject.title}", f"{what}. {subject.title}")
