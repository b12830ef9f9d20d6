# SPDX-License-Identifier: GPL-2.0-or-later
"""The round trip in slow start, averaged over trials before the link is full, and its spectrum (thesis, figure 4.7)."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.errors import UserError
from lab.figures.moments import LINE_PT, name_verticals
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, FAINT, INK, Drawing, canvas, plain_decades, title
from lab.judge.registry import TRUTH
from lab.judge.search_replay import PRINTED
from lab.judge.slow_start_rtt import SAMPLES_A_RTT, averaged
from lab.judge.stored import Stored, in_order
from lab.traces.recording import Recording
from lab.traces.spectrum import Spectrum, spectrum

SEARCH_WINDOW_RTTS = PRINTED.window_factor_tenths / 10
LEAST_RTTS = 8  # a shorter slow start does not hold the cycles looked for twice
PREFERRED = ("cubic_plain", "search")  # the thesis transforms slow starts without HyStart


def average(stored: Stored) -> pl.DataFrame:
    """Return the mean round trip of one sender's valid trials until the link was full, on one clock."""
    cca = next((name for name in PREFERRED if name in {stanza["name"] for stanza in stored.ccas}), None)
    true = stored.judged.outcomes.filter("valid", heuristic=TRUTH, cca=cca)
    full_s = {(row["cca"], row["trial"]): row["capacity_s"] or row["exit_s"] for row in true.iter_rows(named=True)}
    trials = [trial for trial in stored.run.trials if (trial.cca, trial.number) in full_s]
    base_s = min((trial.meta["base_rtt_ms"] for trial in trials), default=1000.0) / 1e3
    return averaged(trials, full_s, base_s / SAMPLES_A_RTT)


def transformed(table: pl.DataFrame) -> Spectrum | None:
    """Return the spectrum of the whole average; none where it is too short."""
    try:
        if table["t_s"][-1] < LEAST_RTTS * float(table["rtt_ms"].to_numpy().min()) / 1e3:
            return None
        recording = Recording(table.select("t_s", "rtt_ms"), "series", None, "trials", "slow start", ())
        return spectrum(recording, float(table["t_s"][-1] + table["t_s"][1]))
    except (UserError, IndexError, pl.exceptions.PolarsError):
        return None


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
    """Draw a spectrum, with the dominant cycle and SEARCH's window."""
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
