# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes delivered against twice the window before, and their normalized difference (thesis, figure 5.6).

While the window doubles, a SEARCH window delivers twice what the window one RTT before did, and the
difference is zero. It grows once the link is full; at the threshold SEARCH leaves slow start.
"""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.stats import largest, smallest
from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import INK, Drawing, key_above, level, panels
from lab.figures.subject import Subject

LOWEST_PCT = -100.0  # a faster return link lets more than the double arrive; beyond this it is cut off
EXPECTED = "#56b4e9"
AFTER = 1.15  # how far beyond the last moment the time axis goes


@in_house_style
def figure(bins: pl.DataFrame, moments: Moments, threshold_pct: int | None = None) -> Figure:
    """Two panels over time, from the columns of bins.parquet; bins without a comparison are left out."""
    compared = bins.filter(pl.col("norm_pct").is_not_null())
    until_s = _until_s(compared, moments)
    shown = compared.filter(pl.col("t_s") <= until_s)
    drawn, (bytes_axis, norm_axis) = panels(2, 5.2, heights=(3, 2))
    norm_axis.set_xlim(0, until_s)
    _delivered(bytes_axis, shown)
    key_above(drawn, *bytes_axis.get_legend_handles_labels())
    _normalized(norm_axis, shown, threshold_pct)
    mark_moments((bytes_axis, norm_axis), moments)
    return drawn


def draw(subject: Subject) -> Drawing | None:
    """Draw the figure of one trial; none of a sender that did not run SEARCH."""
    if subject.own_bins.is_empty():
        return None
    what = "Bytes delivered in a SEARCH window and twice those of the window one RTT before"
    caption = f"{what}, and their normalized difference. From SEARCH's own record of its bins. {subject.title}"
    drawn = figure(subject.own_bins, subject.moments, subject.threshold_pct)
    return Drawing(drawn, caption, f"{what}, over time. {subject.title}")


def _delivered(axis: Axes, bins: pl.DataFrame) -> None:
    t_s, mbytes = bins["t_s"], bins["curr_delv_bytes"] / 1e6
    expected = 2 * bins["prev_delv_bytes"] / 1e6
    axis.plot(t_s, expected, color=EXPECTED, linestyle=(0, (5, 1.5)), linewidth=2, label="twice the previous window")
    axis.plot(t_s, mbytes, color=INK, linewidth=1.6, label="delivered in this window")
    axis.set_ylabel("bytes (MB)")
    axis.set_ylim(bottom=0)


def _normalized(axis: Axes, bins: pl.DataFrame, threshold_pct: int | None) -> None:
    axis.plot(bins["t_s"], bins["norm_pct"], color=INK, marker=".", markersize=3, linewidth=1.2)
    if threshold_pct is not None:
        level(axis, threshold_pct, f"threshold {threshold_pct} %")
    lowest_pct = smallest(bins["norm_pct"]) or 0.0
    axis.set_ylim(min(-20.0, max(1.1 * lowest_pct, LOWEST_PCT)), 60)
    axis.set_ylabel("normalized\ndifference (%)")
    axis.set_xlabel("time since the SYN (s)")


def _until_s(compared: pl.DataFrame, moments: Moments) -> float:
    """Return a little after the last moment; the whole trial where the link was never full."""
    last_s = moments.last_s() if moments.true_capacity_s is not None else largest(compared["t_s"])
    return AFTER * (last_s or 1.0)


FIGURE = PageFigure("delivered_bytes", Place.TRIAL, draw, order=1)
