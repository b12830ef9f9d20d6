# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput at the client in intervals of 15 ms over time (WiFi paper, figure 4 a)."""

import polars as pl
from matplotlib.figure import Figure

from lab.base.stats import largest
from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import Drawing, Sender, envelope, level, panels
from lab.figures.subject import Subject
from lab.judge import median_throughput


@in_house_style
def figure(throughput: pl.DataFrame, median_mbps: float | None, moments: Moments, sender: Sender) -> Figure:
    """Draw the intervals over time, with the median after slow start."""
    drawn, (axis,) = panels(1, 3.2)
    axis.set_xlim(0, largest(throughput["end_s"]) or 1.0)
    shown = envelope(throughput.with_columns(t_s=pl.col("end_s")), "throughput_mbps")
    axis.plot(shown["t_s"], shown["throughput_mbps"], color=sender.colour, lw=1)
    if median_mbps is not None:
        level(axis, median_mbps, f"median {median_mbps:.0f} Mb/s")
    axis.set_ylim(bottom=0)
    axis.set_ylabel(f"throughput in {median_throughput.INTERVAL_TEXT} (Mb/s)")
    axis.set_xlabel("time since the SYN (s)")
    mark_moments((axis,), moments)
    return drawn


def draw(subject: Subject) -> Drawing:
    """Draw the figure of one trial."""
    median_mbps = median_throughput.median_after_mbps(subject.evidence.throughput, subject.moments.exit_s)
    what = f"Throughput at the client in intervals of {median_throughput.INTERVAL_TEXT}, over time"
    summary = "no median after slow start" if median_mbps is None else f"median after slow start {median_mbps:.1f} Mb/s"
    drawn = figure(subject.evidence.throughput, median_mbps, subject.moments, subject.sender)
    return Drawing(drawn, f"{what}; {summary}. {subject.title}", f"{what}; {summary}. {subject.title}")


FIGURE = PageFigure("throughput_time", Place.NO_PAGE, draw, of=Given.TRIAL)
