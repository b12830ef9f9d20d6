# SPDX-License-Identifier: GPL-2.0-or-later
"""Largest against first RTT of slow start, and the extra bins that follow from it (thesis, figures 4.13 and 4.14)."""

from collections.abc import Sequence

import polars as pl
from matplotlib.figure import Figure

from lab.base.stats import largest
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, FAINT, GREEN, INK, VERMILION, Drawing, canvas, cumulative, key_above
from lab.judge.copies import distinct
from lab.judge.stored import Stored, in_order
from lab_papers.figures.parts import plain_decades
from lab_papers.search_replay import EXTRA_BINS, needed_bins

LOOKS = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (INK, ":"))
PREFERRED = ("cubic_plain", "search")
PANELS = {
    "max_rtt_ms": "largest RTT (ms)",
    "initial_rtt_ms": "first RTT (ms)",
    "ratio": "largest RTT over first RTT",
    "extra_bins": "extra bins needed",
}


def extremes(stored: Stored) -> pl.DataFrame:
    """Return the columns of PANELS, one row per valid trial of the sender that stays in slow start longest."""
    cca = next((name for name in PREFERRED if name in {stanza["name"] for stanza in stored.ccas}), None)
    trials = distinct(stored.judged.trials).filter(pl.col("cca") == cca).drop_nulls("initial_rtt_ms")
    ratio = pl.col("max_rtt_ms") / pl.col("initial_rtt_ms")
    return trials.select("max_rtt_ms", "initial_rtt_ms", ratio=ratio, extra_bins=needed_bins(trials))


@in_house_style
def figure(tables: Sequence[tuple[str, pl.DataFrame]]) -> Figure:
    """Draw four cumulative distributions, one line per link."""
    drawn = canvas(6)
    axes = drawn.subplots(2, 2, sharey=True)
    for axis, (column, label) in zip(axes.flat, PANELS.items(), strict=True):
        for (link, table), (colour, dash) in zip(tables, LOOKS, strict=False):
            cumulative(axis, table[column], color=colour, linestyle=dash, lw=1.8, label=f"{link}, n = {table.height}")
        axis.set_xlabel(label)
        if column.endswith("_ms"):
            plain_decades(axis)
    axis.axvline(EXTRA_BINS, color=FAINT, lw=2.5, label=f"SEARCH 2.0 keeps {EXTRA_BINS} extra bins")
    for row in axes:
        row[0].set_ylabel("trials (%)")
    key_above(drawn, *axis.get_legend_handles_labels())
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing | None:
    """Draw the figure of several links; none where no trial has a round trip."""
    tables = [(stored.link, table) for stored in in_order(runs) if (table := extremes(stored)).height]
    if not tables:
        return None
    summary = "; ".join(f"{link}: {_describe(table)}" for link, table in tables)
    what = "Largest RTT until the exit, first RTT, their ratio, and the bins needed to look one RTT back, cumulative"
    return Drawing(figure(tables[: len(LOOKS)]), f"{what}. {summary}.", f"{what}. {summary}.")


def _describe(table: pl.DataFrame) -> str:
    enough = 100 * (table["extra_bins"] <= EXTRA_BINS).sum() / table.height
    most = largest(table["ratio"]) or 0.0
    return f"ratio at most {most:.1f}, {EXTRA_BINS} bins are enough in {enough:.0f} % of {table.height} trials"


FIGURE = PageFigure("rtt_extremes", Place.NO_PAGE, draw, of=Given.RUNS)
