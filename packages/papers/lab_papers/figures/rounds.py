# SPDX-License-Identifier: GPL-2.0-or-later
"""Round trip by round trip: what was sent, what arrived, and the doubling that ends (thesis 4.3 and 4.6, WiFi paper 3).

The papers draw this as theory; here it is a real download. All rounds are as long as the round trip was when the link
became full (or slow start was left): a round that grew with the queue would double for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lab.figures.moments import EXIT, LOOKS, TRUE_CAPACITY, Moments, name_verticals
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import INK, VERMILION, Drawing, Look, key_above, panels
from lab.figures.subject import Subject
from lab_papers.figures.replayed import Floats, Streams

EXPECTED = "#56b4e9"
AFTER_ROUNDS = 3  # shown after the exit
MOST_ROUNDS = 24


@dataclass(frozen=True)
class Rounds:
    """Bytes of each round trip, and when it ended."""

    ends_s: Floats
    sent_bytes: Floats
    delivered_bytes: Floats

    @classmethod
    def of_streams(cls, streams: Streams, full_s: float, rtt_s: float) -> "Rounds":
        """Count what was sent and delivered within each round; one of them ends when the link was full."""
        first_s, last_s = (float(streams.table["t_s"][index]) for index in (0, -1))
        before, after = (full_s - first_s) / rtt_s, (last_s - full_s) / rtt_s
        edges = full_s + rtt_s * np.arange(-np.ceil(before), np.floor(after) + 1)
        return cls(edges[1:], np.diff(streams.sent(edges)), np.diff(streams.delivered(edges)))


@in_house_style
def figure(rounds: Rounds, moments: Moments) -> Figure:
    """Above, sent and delivered; below, delivered against twice what the round before delivered."""
    drawn, (sent_axis, delivered_axis) = panels(2, 5.2)
    shown = slice(0, _shown(rounds, moments))
    numbers = np.arange(1, len(rounds.ends_s[shown]) + 1)
    sent, delivered = rounds.sent_bytes[shown] / 1e6, rounds.delivered_bytes[shown] / 1e6
    sent_axis.bar(numbers - 0.2, sent, 0.4, color=EXPECTED, edgecolor=INK, lw=0.5, hatch="///", label="sent")
    sent_axis.bar(numbers + 0.2, delivered, 0.4, color=INK, label="delivered")
    delivered_axis.bar(numbers, delivered, 0.5, color=INK)
    expected = np.concatenate(([np.nan], 2 * delivered[:-1]))
    look: Look = {"color": VERMILION, "lw": 2.2, "label": "twice the bytes delivered in the round before"}
    delivered_axis.hlines(expected, numbers - 0.42, numbers + 0.42, **look)
    entries = (axis.get_legend_handles_labels()[0] for axis in (sent_axis, delivered_axis))
    key_above(drawn, list(chain(*entries)))
    for axis in (sent_axis, delivered_axis):
        axis.set_ylabel("bytes (MB)")
        axis.grid(False, axis="x")
    _mark((sent_axis, delivered_axis), rounds, moments, len(numbers))
    delivered_axis.set_xlabel("round trip")
    delivered_axis.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    return drawn


def draw(subject: Subject) -> Drawing | None:
    """Draw the figure of one trial; none where too little was acknowledged."""
    moments, acks = subject.moments, subject.acks.drop_nulls("srtt_ms")
    full_s = next((t_s for t_s in (moments.true_capacity_s, moments.exit_s) if t_s is not None), None)
    known = acks if full_s is None else acks.filter(pl.col("t_s") <= full_s)
    if known.height < 3:
        return None
    rtt_s = float(known["srtt_ms"][-1]) / 1e3
    rounds = Rounds.of_streams(Streams(acks), known["t_s"][-1] if full_s is None else full_s, rtt_s)
    what = (
        f"Bytes sent and delivered in each round trip of {1e3 * rtt_s:.0f} ms, and against twice the round before: "
        "while the window doubles so do they; at capacity they stop"
    )
    grown = ", ".join(f"{value / 1e6:.2g}" for value in rounds.delivered_bytes[:MOST_ROUNDS])
    alt = f"{what}. {subject.title} Delivered, round by round, in MB: {grown}."
    return Drawing(figure(rounds, subject.moments), f"{what}. {subject.title}", alt)


def _shown(rounds: Rounds, moments: Moments) -> int:
    last_s = moments.last_s()
    ended = len(rounds.ends_s) if last_s is None else int(np.searchsorted(rounds.ends_s, last_s)) + AFTER_ROUNDS
    return min(ended, MOST_ROUNDS)


def _mark(axes: Sequence[Axes], rounds: Rounds, moments: Moments, shown: int) -> None:
    named = []
    for name, t_s in ((TRUE_CAPACITY, moments.true_capacity_s), (EXIT, moments.exit_s)):
        number = shown + 1 if t_s is None else int(np.searchsorted(rounds.ends_s, t_s - 1e-6)) + 1.5
        if number <= shown:
            named.append((name, number, LOOKS[name]["color"]))
            for axis in axes:
                axis.axvline(number, **LOOKS[name])
    name_verticals(axes[0], sorted(named, key=lambda line: line[1]))


FIGURE = PageFigure("rounds", Place.NO_PAGE, draw, of=Given.TRIAL)
