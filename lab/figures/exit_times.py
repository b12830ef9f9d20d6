# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer in one figure: each trial's exit from slow start against the true capacity and the first loss or mark.

One thin row per trial: up to its capacity an exit is early, from its first loss or mark on it is late (from a late exit
on, where the capture shows neither), between them it is at the chokepoint. A row without a capacity is early
throughout; without either, its chokepoint zone has no end.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.stats import largest
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import in_house_style, is_narrow, small_pt
from lab.figures.style import INK, Drawing, Look, Sender, key_above, lines_canvas
from lab.judge.classify import ExitClass
from lab.judge.registry import LASTING
from lab.judge.stored import Stored

ZONES = {ExitClass.EARLY: "#eef1f8", ExitClass.CHOKEPOINT: "#9fd8bb", ExitClass.LATE: "#fbe3d4"}  # 25 greys apart
HATCHES = {ExitClass.EARLY: "", ExitClass.CHOKEPOINT: "", ExitClass.LATE: "////"}
HATCH_INK = "#c98a66"
MEANINGS = {
    ExitClass.EARLY: "early: queue not yet filled",
    ExitClass.CHOKEPOINT: "chokepoint: filled, no loss or mark",
    ExitClass.LATE: "late: after the first loss or mark",
}


@in_house_style
def figure(outcomes: pl.DataFrame, senders: Sequence[Sender], until_s: float) -> Figure:
    """Draw a band per sender, with one row per valid trial in order of its exit; outcomes: of one rule."""
    drawn = lines_canvas((2.2 if is_narrow() else 3.8) * len(senders) + 2, len(senders))
    axes = drawn.subplots(len(senders), 1, sharex=True, squeeze=False)[:, 0]
    for axis, sender in zip(axes, senders, strict=True):
        trials = outcomes.filter(cca=sender.name)
        ordered = trials.filter("valid").sort("exit_s", "trial", descending=[True, False], nulls_last=True)
        _band(axis, ordered, sender, until_s)
        _name(axis, sender.label, [*_counts(trials), f"n = {ordered.height}"])
    axes[-1].set_xlim(0, until_s)
    for axis in (axes[0], axes[-1]):  # the first screen shows the first panels alone
        axis.tick_params(labelbottom=True)
        axis.set_xlabel("time since the SYN (s)")
    key_above(drawn, *axes[0].get_legend_handles_labels())
    return drawn


def draw(stored: Stored) -> Drawing:
    """Draw a whole run, judged by the true queue."""
    true = stored.judged.outcomes.filter(heuristic=LASTING)
    senders = [Sender.from_stanza(stanza) for stanza in stored.ccas]
    shares = "; ".join(f"{sender.label}: {', '.join(_counts(true.filter(cca=sender.name)))}" for sender in senders)
    caption = (
        "When each trial left slow start: one row per trial, with a symbol where the sender left. Up to the first "
        "line the bottleneck's queue did not yet stay filled (early); in the hatched zone something was lost or marked "
        "(late)."
    )
    alt = f"Exits from slow start against capacity and loss. {shares}."
    # When the last download ended: what it waited for before its first data is part of the axis.
    until_s = largest(stored.judged.trials["end_s"]) or 1.0  # of a run without trials
    return Drawing(figure(true, senders, until_s), caption, alt)


def _band(axis: Axes, trials: pl.DataFrame, sender: Sender, until_s: float) -> None:
    _zones(axis, trials, until_s)
    look: Look = {"color": sender.colour, "marker": sender.marker, "edgecolors": INK}
    axis.scatter(trials["exit_s"], range(trials.height), s=22, linewidths=0.4, zorder=4, **look)
    axis.set_ylim(-0.7, max(trials.height, 1) - 0.3)
    axis.set_yticks([])
    axis.grid(False)


def _zones(axis: Axes, trials: pl.DataFrame, until_s: float) -> None:
    """Shade each row up to its capacity, to its first loss or mark, and to the end; a line at each of the two."""
    capacity_s = trials["capacity_s"].fill_null(until_s).to_numpy()
    signals = pl.min_horizontal("loss_s", "mark_s", pl.when(exit_class="late").then("exit_s"))
    signal_s = np.maximum(trials.select(signals.fill_null(until_s))["loss_s"].to_numpy(), capacity_s)
    edges_s = [np.zeros_like(capacity_s), capacity_s, signal_s, np.full_like(capacity_s, until_s)]
    rows = np.arange(trials.height)
    ends = np.append(rows, trials.height) - 0.5
    for zone, *zone_s in zip(ExitClass, edges_s, edges_s[1:], strict=False):
        look: Look = {"facecolor": ZONES[zone], "hatch": HATCHES[zone], "edgecolor": HATCH_INK, "linewidth": 0}
        begin_s, end_s = (np.append(each, each[-1:]) for each in zone_s)
        axis.fill_betweenx(ends[: len(begin_s)], begin_s, end_s, step="post", label=MEANINGS[zone], **look)
    for edge_s in (capacity_s, signal_s):
        inside = edge_s < until_s
        axis.vlines(edge_s[inside], rows[inside] - 0.5, rows[inside] + 0.5, colors=INK, linewidth=0.7)


def _name(axis: Axes, label: str, counts: Sequence[str]) -> None:
    """Write the sender above its band, and below the name how many trials fell in each class.

    At its left: a small screen shows the left part of a figure.
    """
    axis.set_title(f"{label}\n")
    axis.annotate(", ".join(counts), (0, 1), (0, 6), "axes fraction", "offset points", fontsize=small_pt())


def _counts(trials: pl.DataFrame) -> list[str]:
    """How many trials fell in each class, as words; trials without a class only when there are some."""
    valid = trials.filter("valid")
    classes, never = valid["exit_class"], valid["exit_s"].null_count()
    named = [f"{int((classes == zone).sum())} {zone}" for zone in ExitClass]
    unjudged = valid.filter(pl.col("exit_class").is_null() & pl.col("exit_s").is_not_null()).height
    rest = ((never, "never left"), (unjudged, "not judged"), (trials.height - valid.height, "invalid, left out"))
    return named + [f"{count} {text}" for count, text in rest if count]


FIGURE = PageFigure("exit_times", Place.RUN, draw)
