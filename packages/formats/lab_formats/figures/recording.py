# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of a link: each quantity over time, and next to it the distribution of its values."""

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style, small_pt
from lab.figures.style import BLUE, GREEN, INK, VERMILION, Drawing, canvas
from lab.traces.recording import Recording
from lab_formats.shown.panels import Panel, panels

PANEL_IN = 1.9
MOST_VALUES, BUCKETS = 1500, 600  # drawn one by one; else as spans, so many
COLOURS = {"Mb/s": BLUE, "ms": GREEN, "%": VERMILION}


@in_house_style
def figure(shown: list[Panel], title: str) -> Figure:
    """Draw one row per quantity: over time, and cumulative."""
    over_time = all("t_s" in panel.table for panel in shown)
    drawn = canvas(PANEL_IN * len(shown) + 0.7)
    ratios = [2.4, 1] if over_time else [1]
    axes = drawn.subplots(len(shown), len(ratios), squeeze=False, width_ratios=ratios)
    for panel, row in zip(shown, axes, strict=True):
        if over_time:
            row[0].sharex(axes[0][0])
            _series(row[0], panel)
        _cumulative(row[-1], panel)
    if over_time:
        axes[-1][0].set_xlabel("time (s)")
    drawn.suptitle(title, x=0.01, ha="left", fontsize=rcParams["axes.titlesize"])
    return drawn


def draw(recording: Recording, title: str) -> Drawing:
    """Draw the figure of a recording, with its distributions as text."""
    shown = panels(recording)
    text = "; ".join(panel.in_words() for panel in shown)
    return Drawing(figure(shown, title), f"{title}. {text}.", f"{title}. {text}.")


def _series(axis: Axes, panel: Panel) -> None:
    """Draw a line through every value, or, of too many values, the span and the median of each stretch of time."""
    colour = COLOURS[panel.unit]
    if panel.table.height <= MOST_VALUES:
        values = panel.table["value"].to_numpy(allow_copy=True)
        axis.step(panel.table["t_s"], values, where="post", color=colour, linewidth=1)
        if panel.table["value"].null_count():  # a value between two missing ones has no line
            axis.plot(panel.table["t_s"], values, ".", color=colour, markersize=1.5)
    else:
        spans = panel.spans(BUCKETS)
        low, middle, high = (spans[name].to_numpy() for name in ("low", "middle", "high"))
        axis.fill_between(spans["t_s"], low, high, color=colour, alpha=0.3, linewidth=0.4)
        axis.plot(spans["t_s"], middle, color=colour, linewidth=0.9, marker=".", markersize=1)
        _write(axis, f"line: median of {float(spans['t_s'][0]) * 2:.2g} s, shade: least to largest", 0.0)
    axis.set_ylabel(panel.label.replace(" (", "\n("))
    axis.set_ylim(0, panel.cut_at)
    axis.set_xlim(left=0)
    if panel.cut_at:
        _write(axis, f"cut: up to {panel.values[-1]:.4g} {panel.unit}", 1.0)


def _write(axis: Axes, text: str, x: float) -> None:
    side = "left" if x == 0 else "right"
    axis.text(x, 1.01, text, transform=axis.transAxes, ha=side, va="bottom", fontsize=small_pt(), color=INK)


def _cumulative(axis: Axes, panel: Panel) -> None:
    table = panel.cumulative()
    axis.plot(table["value"], table["share_pct"], color=INK)
    axis.set_ylim(0, 102)
    axis.set_xlabel(panel.range_label)
    axis.set_ylabel("share (%)")


FIGURE = PageFigure("recording", Place.NO_PAGE, draw, of=Given.RECORDING)
