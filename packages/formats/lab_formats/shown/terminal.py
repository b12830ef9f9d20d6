# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings and spectra drawn with characters, by plotext."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotext
from matplotlib.ticker import MaxNLocator

from lab_formats.shown.panels import Panel

HEIGHT = 13
LEAST_WIDTH, MOST_WIDTH = 60, 120
TIME_SHARE = 0.62  # of the width; the rest is the distribution's
CHARS_A_TICK, LINES_A_TICK = 9, 3


@dataclass(frozen=True)
class Curve:
    """A line through points; it breaks before those whose number is in `breaks`."""

    x: Sequence[float]
    y: Sequence[float]
    x_label: str
    title: str
    breaks: frozenset[int] = frozenset()


def drawn(panel: Panel, width: int) -> list[str]:
    """Draw a quantity over time (the extremes of each column) and, to its right, its distribution."""
    width = fitting(width)
    if "t_s" not in panel.table:
        return _plot([_distribution(panel)], [width])
    left = round(width * TIME_SHARE)
    return _plot([_over_time(panel, left - 10), _distribution(panel)], [left, width - left])


def drawn_curve(curve: Curve, width: int) -> list[str]:
    """Draw one curve over the whole width."""
    return _plot([curve], [fitting(width)])


def fitting(width: int) -> int:
    """Return a width that is wide enough to read and narrow enough to print."""
    return max(LEAST_WIDTH, min(width, MOST_WIDTH))


def _over_time(panel: Panel, columns: int) -> Curve:
    """Go through low and high of each column's values; a column without any breaks the line."""
    known = panel.spans(columns).with_row_index("column").drop_nulls()
    after_none = known["column"].diff().fill_null(1) > 1
    return Curve(
        [t_s for t_s in known["t_s"] for _ in range(2)],
        [value for low, high in known.select("low", "high").iter_rows() for value in (low, high)],
        "time (s)",
        panel.label,
        frozenset(2 * int(row) for row in after_none.arg_true()),
    )


def _distribution(panel: Panel) -> Curve:
    table = panel.cumulative(200)
    return Curve(table["value"].to_list(), table["share_pct"].to_list(), panel.range_label, "share (%)")


def _plot(curves: Sequence[Curve], widths: Sequence[int]) -> list[str]:
    """Return the lines of the curves side by side, without colours: they read as well in a file."""
    figure = plotext.figure
    figure.clear()
    figure.plot_size(sum(widths), HEIGHT)
    if len(curves) > 1:
        figure.subplots(1, len(curves))
    for column, (curve, width) in enumerate(zip(curves, widths, strict=True), start=1):
        part = figure.subplot(1, column) if len(curves) > 1 else figure
        part.plot_size(width, HEIGHT)
        part.title(curve.title)
        part.label(curve.x_label)
        signal = part.signal(list(curve.x), list(curve.y), marker="braille")
        signal.lines(True)
        for point in curve.breaks:
            signal.line(point, False)
        part.draw(signal)
        _ticks(part.ruler("x"), curve.x, width // CHARS_A_TICK)
        _ticks(part.ruler("y"), curve.y, HEIGHT // LINES_A_TICK)
    lines = figure.build().string(colorless=True).splitlines()
    figure.clear()
    return [line.rstrip() for line in lines]


def _ticks(ruler: Any, values: Sequence[float], most: int) -> None:
    """Put an axis from 0 or below the smallest value to above the largest, with round numbers at it."""
    low, high = min(values), max(values)
    low = 0.0 if low < high / 2 else low
    ticks = [float(tick) for tick in MaxNLocator(most).tick_values(low, high if high > low else low + 1)]
    ruler.lim(ticks[0], ticks[-1])
    ruler.ticks(ticks, [f"{tick:g}" for tick in ticks])
