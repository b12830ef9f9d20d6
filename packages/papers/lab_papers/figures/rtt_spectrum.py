# SPDX-License-Identifier: GPL-2.0-or-later
"""How round trips swing: amplitude over the length of a cycle in round trips (thesis, figure 4.7)."""

from typing import Any

from matplotlib import rcParams
from matplotlib.figure import Figure

from lab.figures.moments import name_verticals
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, FAINT, INK, Drawing, level, panels
from lab_papers.evaluation.spectrum import Spectrum
from lab_papers.figures.parts import plain_decades
from lab_papers.search_replay import PRINTED

SEARCH_WINDOW_RTTS = PRINTED.window_factor_tenths / 10


@in_house_style
def figure(found: Spectrum, title: str) -> Figure:
    """Draw the spectrum, with the dominant cycle and SEARCH's window."""
    drawn, (axis,) = panels(1, 3.6)
    cycle_rtts = 1e3 / found.table["frequency_hz"] / found.min_rtt_ms
    axis.plot(cycle_rtts, found.table["amplitude_ms"], color=BLUE)
    axis.set_xlim(found.shortest_rtts, found.longest_rtts)
    plain_decades(axis)
    axis.set_ylim(bottom=0)
    window = f"SEARCH's window {SEARCH_WINDOW_RTTS:g} RTTs"
    named: list[tuple[str, float, str, Any]] = [(window, SEARCH_WINDOW_RTTS, FAINT, (0, (6, 2)))]
    if found.peaks.height:
        rtts, seconds = found.peaks["cycle_rtts"][0], found.peaks["cycle_s"][0]
        named.append((f"dominant cycle {rtts:.2f} RTTs, {seconds:.3g} s", rtts, INK, (0, (1.5, 1.5, 6, 1.5))))
    inside = sorted(
        (line for line in named if found.shortest_rtts <= line[1] <= found.longest_rtts), key=lambda line: line[1]
    )
    for _, x, colour, dashes in inside:
        axis.axvline(x, color=colour, linestyle=dashes, linewidth=1.5)
    name_verticals(axis, [(name, x, colour) for name, x, colour, _ in inside])
    level(axis, float(found.table["amplitude_ms"].median() or 0), "median")  # type: ignore[arg-type]
    axis.set_xlabel(f"length of a cycle (minimum RTTs of {found.min_rtt_ms:.4g} ms)")
    axis.set_ylabel("mean amplitude (ms)")
    drawn.suptitle(title, x=0.01, ha="left", fontsize=rcParams["axes.titlesize"])
    return drawn


def draw(found: Spectrum, title: str) -> Drawing:
    """Draw the figure of a spectrum."""
    words = f"{title}: amplitude of the swings of its round trips, {found.windows} windows of {found.window_s:.3g} s."
    return Drawing(figure(found, title), words, words)


FIGURE = PageFigure("rtt_spectrum", Place.NO_PAGE, draw, of=Given.SPECTRUM)
