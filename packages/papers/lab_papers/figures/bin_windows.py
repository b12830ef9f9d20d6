# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes a bin, and the two windows that SEARCH compares: this one, and the one an RTT before (thesis, figure 4.4)."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style, small_pt
from lab.figures.style import GREEN, INK, Drawing, panels
from lab_papers.figures.replayed import Replayed, Streams
from lab_papers.search_replay import SearchParams


@in_house_style
def figure(at: dict[str, float], streams: Streams, search: SearchParams) -> Figure:
    """Bars of the bins kept when slow start was left at `at` (a row of bins), with both windows as spans above."""
    drawn, (axis,) = panels(1, 3.4)
    bin_s, now_s, rtt_s = at["bin_ms"] / 1e3, at["t_s"], at["rtt_ms"] / 1e3
    edges = now_s - bin_s * np.arange(search.bins + search.extra_bins, -1, -1)
    kbytes = np.diff(streams.delivered(edges)) / 1e3
    axis.bar(edges[:-1], kbytes, bin_s * 0.92, align="edge", color="#cfd6e0", edgecolor=INK, lw=0.5)
    top = float(kbytes.max()) or 1.0
    spans = (
        ("this window", now_s - search.bins * bin_s, now_s, GREEN, 1.10),
        ("the window one RTT before", now_s - rtt_s - search.bins * bin_s, now_s - rtt_s, "#0072b2", 1.30),
    )
    for name, begin_s, end_s, colour, height in spans:
        look = {"arrowstyle": "|-|,widthA=0.25,widthB=0.25", "color": colour, "lw": 2}
        axis.annotate("", (begin_s, height * top), (end_s, height * top), arrowprops=look)
        mbytes = np.diff(streams.delivered([begin_s, end_s]))[0] / 1e6
        text = f"{name}: {mbytes:.2f} MB"
        axis.text(
            (begin_s + end_s) / 2,
            (height + 0.05) * top,
            text,
            ha="center",
            va="bottom",
            color=colour,
            fontsize=small_pt(),
        )
    axis.set_ylim(0, 1.5 * top)
    axis.set_xlim(edges[0], now_s + 0.5 * bin_s)
    axis.set_ylabel("delivered per bin (kB)")
    axis.set_xlabel("time since the SYN (s)")
    return drawn


def draw(subject: Replayed) -> Drawing | None:
    """Draw the figure of one trial; none where SEARCH did not leave, or no core to replay was given."""
    if subject.bins is None:
        return None
    left = subject.bins.filter(pl.col("exit")).head(1)
    if left.is_empty():
        left = subject.bins.filter(pl.col("norm_pct").is_not_null()).tail(1)
    if left.is_empty():
        return None
    at = left.row(0, named=True)
    search = subject.search
    kept = search.bins + search.extra_bins
    what = f"The last {kept} bins when slow start was left, and the two windows of {search.bins} that are compared"
    summary = f"normalized difference {at['norm_pct']:.1f} %, bins of {at['bin_ms']:.1f} ms, RTT {at['rtt_ms']:.0f} ms"
    caption = f"{what}: {summary}. {subject.title}"
    return Drawing(figure(at, Streams(subject.acks), search), caption, caption)


FIGURE = PageFigure("bin_windows", Place.NO_PAGE, draw, of=Given.TRIAL)
