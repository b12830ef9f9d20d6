# SPDX-License-Identifier: GPL-2.0-or-later
"""What bins cost: the normalized difference from bins against the exact one from every ACK (thesis, figure 4.2)."""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.streams import Streams
from lab.figures.style import INK, VERMILION, Drawing, panels
from lab.figures.subject import Subject


def compared(bins: pl.DataFrame, streams: Streams, window_bins: int) -> pl.DataFrame:
    """t_s, binned_pct, exact_pct and error_pct where the bins allow a comparison.

    Exact: the same windows ending at the same instants, but counted ACK by ACK instead of bin by bin.
    """
    compared_bins = bins.filter(pl.col("norm_pct").is_not_null())
    t_s, rtt_s = compared_bins["t_s"].to_numpy(), compared_bins["rtt_ms"].to_numpy() / 1e3
    window_s = window_bins * compared_bins["bin_ms"].to_numpy() / 1e3
    now = streams.delivered(t_s) - streams.delivered(t_s - window_s)
    twice = 2 * (streams.delivered(t_s - rtt_s) - streams.delivered(t_s - rtt_s - window_s))
    exact_pct = 100 * np.divide(twice - now, twice, out=np.full_like(twice, np.nan), where=twice > 0)
    table = pl.DataFrame({"t_s": t_s, "binned_pct": compared_bins["norm_pct"], "exact_pct": exact_pct})
    return table.with_columns(error_pct=pl.col("binned_pct") - pl.col("exact_pct")).filter(
        pl.col("exact_pct").is_finite()
    )


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


def draw(subject: Subject) -> Drawing | None:
    """Draw the figure of one trial, until its exit; none where no bins are known."""
    if subject.bins is None:
        return None
    last_s = subject.moments.exit_s or float("inf")
    table = compared(subject.bins.filter(pl.col("t_s") <= last_s), Streams(subject.acks), subject.search.bins)
    if table.is_empty():
        return None
    mean = float(table["error_pct"].abs().to_numpy().mean())
    summary = f"mean error {mean:.1f} points in {table.height} comparisons"
    what = f"The normalized difference from bins and from every ACK: {summary}"
    return Drawing(figure(table), f"{what}. {subject.title}", f"{what}. {subject.title}")


FIGURE = PageFigure("bins_error", Place.NO_PAGE, draw, of=Given.TRIAL)
