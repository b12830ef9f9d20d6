# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded downloads and the band of emulated ones: acknowledged bytes, round trip and bytes in flight over time."""

from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import FAINT, INK, Drawing, key_above, panels
from lab_papers.evaluation.recorded.bands import HIGH_PCT, LOW_PCT, Band, inside, values_of
from lab_papers.evaluation.recorded.comparison import Comparison
from lab_papers.evaluation.recorded.download import Floats
from lab_papers.figures.parts import plain_decades

COLOURS = ("#0072b2", "#d55e00", "#007f5f", "#cc79a7", "#e69f00")  # Okabe and Ito
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (1, 1)))
POINTS = 1200
LABELS = {
    "acked_pkts": "acknowledged\n(1000 segments)",
    "rtt_ms": "round trip\n(s)",
    "inflight_bytes": "in flight\n(MB)",
}
LEAST = {"acked_pkts": 10.0, "rtt_ms": 0.0, "inflight_bytes": 1e4}  # shown; above 0 on a scale of decades
SCALES = {"acked_pkts": 1e-3, "rtt_ms": 1e-3, "inflight_bytes": 1e-6}


@in_house_style
def figure(both: Comparison) -> Figure:
    """Three panels over the time since the first data segment."""
    drawn, axes = panels(3, 7.4)
    until_s = both.bands["acked_pkts"].end_s
    for axis, (quantity, band) in zip(axes, both.bands.items(), strict=True):
        _band(axis, band, SCALES[quantity])
        for each, colour, dashes in zip(both.recorded, cycle(COLOURS), cycle(DASHES), strict=False):
            times_s = np.linspace(0, until_s, POINTS)
            values = each.at(values_of(each, quantity), times_s) * SCALES[quantity]
            axis.plot(times_s, values, color=colour, linestyle=dashes, linewidth=1.1, label=each.name)
        axis.set_ylabel(LABELS[quantity])
        axis.set_ylim(LEAST[quantity] * SCALES[quantity], _top(both, quantity, until_s))
        if LEAST[quantity]:
            plain_decades(axis, "y")
    axes[0].set_xlim(0, until_s)
    key_above(drawn, *axes[0].get_legend_handles_labels())
    axes[-1].set_xlabel("time since the first data segment (s)")
    return drawn


def draw(both: Comparison) -> Drawing:
    """Draw the figure, with the shares inside as text."""
    what = (
        f"Recorded downloads (lines) and {len(both.trials)} emulated ones of {both.sender}, {LOW_PCT}th to "
        f"{HIGH_PCT}th percentile (shade) and median (grey line)"
    )
    return Drawing(figure(both), f"{what}.", f"{what}: {_describe(both)}.")


def _band(axis: Axes, band: Band, scale: float) -> None:
    low, middle, high = (edge * scale for edge in (band.low, band.middle, band.high))
    axis.fill_between(band.t_s, low, high, color=FAINT, alpha=0.35, linewidth=0, label="emulated")
    axis.plot(band.t_s, middle, color=INK, linewidth=0.8, alpha=0.7)


def _top(both: Comparison, quantity: str, until_s: float) -> float:
    """Return where a panel ends: above all that it shows."""
    shown: list[Floats] = [both.bands[quantity].high]
    shown += [values_of(each, quantity)[each.t_s <= until_s] for each in both.recorded]
    highest = max((float(np.nanmax(values)) for values in shown if not np.isnan(values).all()), default=1.0)
    return 1.05 * SCALES[quantity] * highest


def _describe(both: Comparison) -> str:
    summary = []
    for each in both.recorded:
        share = inside(each, both.bands)["acked_pkts"][1]
        summary.append(f"{each.name} {'' if share is None else f'{100 * share:.0f} %'}")
    return f"acknowledged segments inside the band: {', '.join(summary)} of the time"


FIGURE = PageFigure("recorded_downloads", Place.RECORDED, draw)
