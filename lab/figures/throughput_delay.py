# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput against queueing delay: all senders in one picture per link (the scatter of Pantheon's users).

A small mark is a trial, a large one a sender's mean. Several runs of a link share its panel: those after the first are
hollow. The axis of delay runs to the left, so that better is up and to the right.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.base.stats import largest
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style, is_narrow
from lab.figures.style import Drawing, Look, Sender, canvas, key_above, title
from lab.judge.copies import distinct
from lab.judge.stored import Stored, in_order

PANEL_IN, KEY_IN = 2.6, 0.7  # heights
VALUES = ("throughput_mbps", "wait_ms")
MARKS: Look = {"linestyle": "none", "clip_on": False}
HOLLOW: Look = {"markerfacecolor": "none"}


def values(stored: Stored) -> pl.DataFrame:
    """Return cca, throughput_mbps and wait_ms of each valid trial that has both."""
    trials = distinct(stored.judged.trials.filter("valid")).select("cca", "trial", "wait_ms")
    rates = stored.judged.outcomes.unique(["cca", "trial"], keep="first").select("cca", "trial", "throughput_mbps")
    return trials.join(rates, on=["cca", "trial"], maintain_order="left").drop_nulls(VALUES)


def by_link(runs: Sequence[Stored]) -> dict[str, list[Stored]]:
    """Return the runs that have something to show, by their link's name."""
    found: dict[str, list[Stored]] = {}
    for stored in in_order(runs):
        if values(stored).height:
            found.setdefault(stored.link, []).append(stored)
    return found


@in_house_style
def figure(links: Mapping[str, Sequence[Stored]]) -> Figure:
    """Draw a panel per link, on axes of its own."""
    columns = 1 if is_narrow() or len(links) == 1 else 2
    rows = -(-len(links) // columns)
    drawn = canvas(PANEL_IN * rows + KEY_IN)
    axes = list(chain(*drawn.subplots(rows, columns, squeeze=False)))
    for axis, (link, runs) in zip(axes, links.items(), strict=False):
        _panel(axis, runs)
        title(axis, link, 1 / columns)
    for axis in axes[len(links) :]:
        axis.set_axis_off()
    drawn.supxlabel("mean queueing delay (ms), less is better: to the right", fontsize="medium")
    drawn.supylabel("throughput (Mb/s)", fontsize="medium")
    key_above(drawn, _key(links))
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing | None:
    """Draw the runs, the senders of a link in one panel; none without a trial that has both values."""
    links = by_link(runs)
    if not links:
        return None
    what = "Throughput against the mean queueing delay of each download; up and to the right is better"
    key = "Small: a trial; large: the mean of a sender"
    several = [link for link, of_link in links.items() if len(of_link) > 1]
    more = (
        f" Hollow: the runs after the first, {', '.join(each.run_name for each in links[several[0]][1:])}."
        if several
        else ""
    )
    alt = " ".join(chain(*(_in_words(link, of_link) for link, of_link in links.items())))
    return Drawing(figure(links), f"{what}. {key}.{more}", f"{what}. {alt}")


def _panel(axis: Axes, runs: Sequence[Stored]) -> None:
    for number, stored in enumerate(runs):
        table = values(stored)
        for sender in _senders(stored):
            rows = table.filter(cca=sender.name)
            look: Look = MARKS | {"color": sender.colour, "marker": sender.marker} | (HOLLOW if number else {})
            axis.plot(rows["wait_ms"], rows["throughput_mbps"], markersize=4, alpha=0.5, **look)
            mean = rows.select(pl.col(VALUES).mean())
            axis.plot(mean["wait_ms"], mean["throughput_mbps"], markersize=10, **look)
    every = pl.concat([values(stored) for stored in runs])
    axis.set_xlim(1.06 * (largest(every["wait_ms"]) or 1.0), 0)
    axis.set_ylim(0, 1.08 * (largest(every["throughput_mbps"]) or 1.0))


def _senders(stored: Stored) -> list[Sender]:
    known = set(values(stored)["cca"])
    return [Sender.from_stanza(stanza) for stanza in stored.ccas if stanza["name"] in known]


def _key(links: Mapping[str, Sequence[Stored]]) -> list[Line2D]:
    """Return an entry per sender of all links."""
    senders = {each.name: each for stored in chain(*links.values()) for each in _senders(stored)}
    return [
        Line2D([], [], color=each.colour, marker=each.marker, linestyle="none", markersize=8, label=each.label)
        for each in senders.values()
    ]


def _in_words(link: str, runs: Sequence[Stored]) -> list[str]:
    words = []
    for stored in runs:
        means = values(stored).group_by("cca").agg(pl.col(VALUES).mean())
        known = {cca: (rate, wait) for cca, rate, wait in means.select("cca", *VALUES).iter_rows()}
        shown = (
            f"{each.label} {known[each.name][0]:.1f} Mb/s at {known[each.name][1]:.0f} ms" for each in _senders(stored)
        )
        words.append(f"{link}: {', '.join(shown)}.")
    return words


FIGURE = PageFigure("throughput_delay", Place.NO_PAGE, draw, of=Given.RUNS)
