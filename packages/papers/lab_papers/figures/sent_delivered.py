# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH 1.0's view: bytes sent in a window one RTT ago against bytes delivered in this one (thesis, figure 4.5)."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from lab.figures.moments import Moments, mark_moments
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import INK, Drawing, key_above, level, panels
from lab_papers.figures.replayed import Replayed, Streams

SENT = "#56b4e9"
AFTER = 1.15
AGAINST_SENT = ("search1", "search4")  # of another version the threshold is none of this view


def windows(bins: pl.DataFrame, streams: Streams, window_bins: int) -> pl.DataFrame:
    """t_s, sent_bytes, delivered_bytes and norm_pct at each bin's end."""
    compared_bins = bins.filter(pl.col("norm_pct").is_not_null())
    t_s, rtt_s = compared_bins["t_s"].to_numpy(), compared_bins["rtt_ms"].to_numpy() / 1e3
    window_s = window_bins * compared_bins["bin_ms"].to_numpy() / 1e3
    sent = streams.sent(t_s - rtt_s) - streams.sent(t_s - rtt_s - window_s)
    delivered = streams.delivered(t_s) - streams.delivered(t_s - window_s)
    norm_pct = 100 * np.divide(sent - delivered, sent, out=np.full_like(sent, np.nan), where=sent > 0)
    return pl.DataFrame({"t_s": t_s, "sent_bytes": sent, "delivered_bytes": delivered, "norm_pct": norm_pct})


@in_house_style
def figure(table: pl.DataFrame, moments: Moments, threshold_pct: int | None = None) -> Figure:
    """Two panels over time: the windows, and their normalized difference."""
    drawn, (bytes_axis, norm_axis) = panels(2, 5.0, heights=(3, 2))
    until_s = AFTER * (moments.last_s() or float(table["t_s"][-1]))
    shown = table.filter(pl.col("t_s") <= until_s)
    norm_axis.set_xlim(0, until_s)
    bytes_axis.plot(
        shown["t_s"], shown["sent_bytes"] / 1e6, color=SENT, linestyle=(0, (5, 1.5)), lw=2, label="sent one RTT before"
    )
    bytes_axis.plot(shown["t_s"], shown["delivered_bytes"] / 1e6, color=INK, label="delivered")
    bytes_axis.set_ylabel("in a window (MB)")
    bytes_axis.set_ylim(bottom=0)
    key_above(drawn, *bytes_axis.get_legend_handles_labels())
    norm_axis.plot(shown["t_s"], shown["norm_pct"], color=INK, marker=".", markersize=3, lw=1.2)
    norm_axis.set_ylim(-30, 70)
    norm_axis.set_ylabel("normalized\ndifference (%)")
    norm_axis.set_xlabel("time since the SYN (s)")
    if threshold_pct is not None:
        level(norm_axis, threshold_pct, f"threshold {threshold_pct} %")
    mark_moments((bytes_axis, norm_axis), moments)
    return drawn


def draw(subject: Replayed) -> Drawing | None:
    """Draw the figure of one trial; none where no bins are known."""
    table = None if subject.bins is None else windows(subject.bins, Streams(subject.acks), subject.search.bins)
    if table is None or table.is_empty():
        return None
    threshold_pct = subject.threshold_pct if subject.trial.cca in AGAINST_SENT else None
    what = "Bytes sent in a window one RTT ago against bytes delivered in this one, and their normalized difference"
    drawn = figure(table, subject.moments, threshold_pct)
    return Drawing(drawn, f"{what}. {subject.title}", f"{what}, over time. {subject.title}")


FIGURE = PageFigure("sent_delivered", Place.NO_PAGE, draw, of=Given.TRIAL)
