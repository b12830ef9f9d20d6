# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of panels that several figures of the papers have."""

from typing import Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from lab.figures.sheet import small_pt
from lab.figures.style import Look


def count_at_right(axis: Axes, place: float, count: int) -> None:
    """Write how many trials a row of a panel is made of, at the panel's right."""
    look: Look = {"va": "center", "fontsize": small_pt(), "transform": axis.get_yaxis_transform()}
    axis.text(1.02, place, f"n = {count}", **look)


def plain_decades(axis: Axes, way: Literal["x", "y"] = "x") -> None:
    """Give an axis a scale of decades, with plain numbers at so few ticks that none overlap."""
    axis.set(**{f"{way}scale": "log"})
    low, high = axis.get_xlim() if way == "x" else axis.get_ylim()
    steps = (1.0, 2.0, 5.0) if high / low < 30 else (1.0, 3.0) if high / low < 300 else (1.0,)
    ticks = axis.xaxis if way == "x" else axis.yaxis
    ticks.set_major_locator(LogLocator(subs=steps, numticks=12))
    ticks.set_minor_locator(NullLocator())
    ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
