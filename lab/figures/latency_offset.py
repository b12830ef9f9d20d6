# SPDX-License-Identifier: GPL-2.0-or-later
"""One-way latency offset at the client, and how it gives the at-capacity time (thesis, figure 5.4)."""

from dataclasses import replace

import polars as pl
from matplotlib.figure import Figure

from lab.base.stats import largest
from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import Drawing, Sender, envelope, level, panels
from lab.figures.subject import Subject
from lab.judge.rules.latency_offset import BACK_TO_RTTS, EXCEEDED_RTTS, RULE


@in_house_style
def figure(offsets: pl.DataFrame, min_rtt_ms: float, moments: Moments, sender: Sender) -> Figure:
    """Offset of each data segment, with the rule's two levels: twice and half the minimum RTT."""
    drawn, (axis,) = panels(1, 3.4)
    shown = envelope(offsets, "offset_ms")
    axis.set_xlim(0, float(shown["t_s"][-1]) if shown.height else 1.0)
    axis.plot(shown["t_s"], shown["offset_ms"], color=sender.colour)
    for rtts, name in ((EXCEEDED_RTTS, "twice"), (BACK_TO_RTTS, "half")):
        level(axis, rtts * min_rtt_ms, f"{name} the minimum RTT")
    axis.set_ylim(0, 1.05 * max(largest(shown["offset_ms"]) or 0.0, (EXCEEDED_RTTS + 0.2) * min_rtt_ms))
    axis.set_ylabel("latency offset (ms)")
    axis.set_xlabel("time since the SYN (s)")
    mark_moments((axis,), moments)
    return drawn


def draw(subject: Subject) -> Drawing | None:
    """Draw the figure of one trial; none when its capture shows no RTT."""
    if subject.evidence.min_rtt_ms is None:
        return None
    moments = replace(subject.moments, capacity_s=subject.capacity_s.get(RULE.name), rule=RULE.label)
    drawn = figure(subject.offsets, subject.evidence.min_rtt_ms, moments, subject.sender)
    rule = "Above twice the minimum RTT the link is full; at capacity where it was last below half of that RTT"
    alt = f"One-way latency offset over time, at most {largest(subject.offsets['offset_ms']) or 0:.0f} ms."
    return Drawing(drawn, f"One-way latency offset at the client. {rule}. {subject.title}", f"{alt} {subject.title}")


FIGURE = PageFigure("latency_offset", Place.TRIAL, draw, order=3)
