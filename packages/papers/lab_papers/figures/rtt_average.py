# SPDX-License-Identifier: GPL-2.0-or-later
"""The round trip in slow start, averaged over trials before the link is full, and its spectrum (thesis, figure 4.7)."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.moments import LINE_PT, name_verticals
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, FAINT, INK, Drawing, canvas, title
from lab.judge.stored import Stored, in_order
from lab_papers.evaluation.rtt_cycle import LEAST_RTTS, average, transformed
from lab_papers.evaluation.spectrum import Spectrum
from lab_papers.figures.parts import plain_decades
from lab_papers.search_replay import PRINTED

SEARCH_WINDOW_RTTS = PRINTED.window_factor_tenths / 10


@in_house_style
def figure(tables: Sequence[tuple[str, pl.DataFrame, Spectrum | None]]) -> Figure:
    """Draw one row per link: the mean over time with its spread, and the amplitude by the length of a cycle.

    A link whose slow start is too short to transform has the first panel only, as wide as both.
    """
    drawn = canvas(0.4 + 2.4 * len(tables))
    grid = drawn.add_gridspec(len(tables), 2)
    for row, (link, table, found) in enumerate(tables):
        axis = drawn.add_subplot(grid[row, :] if found is None else grid[row, 0])
        _mean(axis, table)
        title(axis, link, 0.85 if found is None else 0.4)
        if found is not None:
            _cycles(drawn.add_subplot(grid[row, 1]), found)
    return drawn


def _mean(axis: Axes, table: pl.DataFrame) -> None:
    axis.plot(table["t_s"], table["rtt_ms"], color=BLUE)
    low, high = table["rtt_ms"] - table["sd_ms"], table["rtt_ms"] + table["sd_ms"]
    axis.fill_between(table["t_s"], low.fill_null(table["rtt_ms"]), high.fill_null(table["rtt_ms"]), alpha=0.2, lw=0)
    axis.set_ylabel("mean RTT (ms)")
    axis.set_xlabel("since the first ACK (s)")


def draw(runs: Sequence[Stored]) -> Drawing | None:
    """Draw the figure of several links; none where no trial reached capacity."""
    tables = [
        (stored.link, table, transformed(table)) for stored in in_order(runs) if (table := average(stored)).height > 1
    ]
    if not tables:
        return None
    summary = "; ".join(f"{link}: {_describe(found)}" for link, _, found in tables)
    what = "Round trips of slow start before the link was full, averaged over trials (band: one sd), and their spectrum"
    return Drawing(figure(tables), f"{what}. Dominant cycle on {summary}.", f"{what}. Dominant cycle on {summary}.")


def _cycles(axis: Axes, found: Spectrum) -> None:
    axis.plot(1e3 / found.table["frequency_hz"] / found.min_rtt_ms, found.table["amplitude_ms"], color=BLUE)
    plain_decades(axis)
    axis.set_ylim(bottom=0)
    axis.set_ylabel("amplitude (ms)")
    axis.set_xlabel("cycle (RTTs)")
    named = [(f"window {SEARCH_WINDOW_RTTS}", SEARCH_WINDOW_RTTS, FAINT, "--")]
    if found.peaks.height:
        rtts = found.peaks["cycle_rtts"][0]
        named.append((f"dominant {rtts:.2f}", rtts, INK, "-."))
    named.sort(key=lambda line: line[1])
    for _, x, colour, dash in named:
        axis.axvline(x, color=colour, linestyle=dash, lw=LINE_PT)
    name_verticals(axis, [(name, x, colour) for name, x, colour, _ in named])


def _describe(found: Spectrum | None) -> str:
    if found is None or not found.peaks.height:
        return f"none: less than {LEAST_RTTS} RTTs long" if found is None else "none found"
    return f"{found.peaks['cycle_rtts'][0]:.2f} RTTs ({found.peaks['cycle_s'][0]:.3g} s)"


FIGURE = PageFigure("rtt_average", Place.NO_PAGE, draw, of=Given.RUNS)
