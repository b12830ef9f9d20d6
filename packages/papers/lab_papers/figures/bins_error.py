# SPDX-License-Identifier: GPL-2.0-or-later
"""What bins cost: the normalized difference from bins against the exact one from every ACK (thesis, figure 4.2)."""

import polars as pl
from matplotlib.figure import Figure

from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import INK, VERMILION, Drawing, panels
from lab_papers.evaluation.search.replay import compared, mean_error
from lab_papers.figures.replayed import Replayed, Streams


@in_house_style
def figure(table: pl.DataFrame) -> Figure:
    """Both curves, and their difference below."""
    drawn, (norm_axis, error_axis) = panels(2, 4.8, heights=(3, 2))
    norm_axis.plot(table["t_s"], table["exact_pct"], color="#56b4e9", lw=3, label="every ACK")
    norm_axis.plot(table["t_s"], table["binned_pct"], color=INK, lw=1.1, linestyle="--", label="bins")
    norm_axis.set_ylabel("normalized\ndifference (%)")
    norm_axis.legend(loc="upper left")
    error_axis.axhline(0, color=INK, lw=0.8)
    error_axis.vlines(table["t_s"], 0, table["error_pct"], color=VERMILION, lw=1.4)
    error_axis.set_ylabel("error (points)")
    error_axis.set_xlabel("time since the SYN (s)")
    return drawn


def draw(subject: Replayed) -> Drawing | None:
    """Draw the figure of one trial, until its exit; none where no bins are known."""
    if subject.bins is None:
        return None
    last_s = subject.moments.exit_s or float("inf")
    table = compared(subject.bins.filter(pl.col("t_s") <= last_s), Streams(subject.acks).delivered, subject.search.bins)
    if table.is_empty():
        return None
    summary = f"mean error {mean_error(table):.1f} points in {table.height} comparisons"
    what = f"The normalized difference from bins and from every ACK: {summary}"
    return Drawing(figure(table), f"{what}. {subject.title}", f"{what}. {subject.title}")


FIGURE = PageFigure("bins_error", Place.NO_PAGE, draw, of=Given.TRIAL)
