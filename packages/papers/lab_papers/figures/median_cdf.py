# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribution of each trial's median throughput, link against link (thesis, figure 5.9)."""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from lab.base.stats import median
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, GREEN, INK, VERMILION, Drawing, cumulative, key_above, panels
from lab.judge.copies import distinct
from lab.judge.stored import Stored, in_order

LOOKS = ((GREEN, "-"), (VERMILION, "--"), (BLUE, "-."), (INK, ":"))
RULE = "median_throughput_after"


@in_house_style
def figure(medians: Sequence[tuple[str, pl.Series]]) -> Figure:
    """Draw one step line per link, with its median."""
    drawn, (axis,) = panels(1, 3.6)
    for (link, values), (colour, dash) in zip(medians, LOOKS, strict=False):
        cumulative(axis, values, color=colour, linestyle=dash, lw=2, label=f"{link}, n = {values.len()}")
    axis.set_xlim(left=0)
    axis.set_xlabel("median throughput of a trial after slow start (Mb/s)")
    axis.set_ylabel("trials (%)")
    key_above(drawn, *axis.get_legend_handles_labels())
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing | None:
    """Draw the figure of several links; none where no trial has a median."""
    medians = []
    for stored in in_order(runs):
        rows = distinct(stored.judged.outcomes).filter(heuristic=RULE)
        if (values := rows["median_mbps"].drop_nulls()).len():
            medians.append((stored.link, values))
    if not medians:
        return None
    summary = "; ".join(
        f"{link}: {median(values) or 0:.0f} Mb/s in the middle of {values.len()} trials" for link, values in medians
    )
    what = "Median throughput of each trial, cumulative over all senders' trials"
    return Drawing(figure(medians[: len(LOOKS)]), f"{what}. {summary}.", f"{what}. {summary}.")


FIGURE = PageFigure("median_cdf", Place.NO_PAGE, draw, of=Given.RUNS)
