# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribution of throughput in 15 ms intervals against the bitrate at the exit (thesis, figure 5.5)."""

from collections.abc import Mapping

import polars as pl
from matplotlib.figure import Figure

from lab.base.stats import largest
from lab.figures.moments import CAPACITY, EXIT, LOOKS, TRUE_CAPACITY, name_verticals
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import INK, Drawing, Look, Sender, cumulative, key_above, panels
from lab.figures.subject import Subject
from lab.judge import median_throughput
from lab.judge.rules.median_throughput_1s import median_first_second_mbps

Rates = Mapping[str, float | None]
RATES: dict[str, Look] = {
    "median after slow start": LOOKS[CAPACITY],
    "exit bitrate": LOOKS[EXIT],
    "median of the first second": LOOKS[TRUE_CAPACITY],
}


@in_house_style
def figure(throughput: pl.DataFrame, rates_mbps: Rates, exit_s: float | None, sender: Sender) -> Figure:
    """Cumulative distributions of the intervals; the known rates (names of RATES) as vertical lines."""
    drawn, (axis,) = panels(1, 3.4)
    known = sorted((rate, name) for name, rate in rates_mbps.items() if rate is not None)
    cumulative(axis, throughput["throughput_mbps"], color=sender.colour, linewidth=2, label="whole trial")
    if exit_s is not None:
        after = throughput.filter(pl.col("begin_s") >= exit_s)
        cumulative(axis, after["throughput_mbps"], color=INK, linewidth=1, label="after slow start")
    fastest_mbps = largest(throughput["throughput_mbps"]) or 0.0
    axis.set_xlim(0, 1.05 * max(fastest_mbps, *(rate for rate, _ in known), 1.0))
    for rate, name in known:
        axis.axvline(rate, **RATES[name])
    name_verticals(axis, [(f"{name} {rate:.1f} Mb/s", rate, RATES[name]["color"]) for rate, name in known])
    key_above(drawn, *axis.get_legend_handles_labels())
    axis.set_ylabel("intervals (%)")
    axis.set_xlabel(f"throughput in {median_throughput.INTERVAL_TEXT} intervals (Mb/s)")
    return drawn


def draw(subject: Subject) -> Drawing:
    """Draw the figure of one trial."""
    rates_mbps = (
        median_throughput.median_after_mbps(subject.evidence.throughput, subject.moments.exit_s),
        subject.evidence.exit_bitrate_mbps,
        median_first_second_mbps(subject.evidence.throughput),
    )
    rates = dict(zip(RATES, rates_mbps, strict=True))
    words = ", ".join(f"{name} {'unknown' if rate is None else f'{rate:.1f} Mb/s'}" for name, rate in rates.items())
    name = f"{subject.sender.label}, trial {subject.trial.number}"
    intervals = f"{median_throughput.INTERVAL_TEXT} intervals"
    caption = f"Throughput at the client in {intervals}, cumulative. {name}: {words}."
    return Drawing(figure(subject.evidence.throughput, rates, subject.moments.exit_s, subject.sender), caption, caption)


FIGURE = PageFigure("throughput_cdf", Place.TRIAL, draw, order=4)
