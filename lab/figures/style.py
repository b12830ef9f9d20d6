# SPDX-License-Identifier: GPL-2.0-or-later
"""The style of every figure: a sender's own look, the three moments of slow start, sizes and fonts.

Colours of moments and zones are from Okabe and Ito's colour-blind-safe set, and no figure relies on colour
alone: each moment has a dash pattern of its own and its name and time written at it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import polars as pl
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.tables.records import Stanza

INK, GRID, FAINT = "#222222", "#dddddd", "#888888"
CAPACITY, EXIT, LOSS = "#0072b2", "#007f5f", "#d55e00"
FOOTNOTE_PT, FOOTNOTE_CHARS_AN_INCH = 6, 19  # at 6 pt
WIDTH_IN = 7.6
MARKED_UP_TO = 12
LEFTWARDS_FROM = 0.75  # of the axis: a name that begins further right would leave the figure
Look = dict[str, Any]  # keyword arguments of matplotlib
RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
    "legend.fontsize": 9,
    # The same tables give the same bytes: element names from a fixed salt, text as outlines.
    "svg.hashsalt": "lab",
    "svg.fonttype": "path",
}
in_house_style = rc_context(RC)  # as a decorator: matplotlib reads the style when an artist is made


@dataclass(frozen=True)
class Sender:
    """How one sender looks and is called, everywhere; from its stanza of cca.yml.

    Marker and line style distinguish senders that share axes; a dense series alone on its axes is drawn solid.
    """

    name: str
    label: str
    colour: str
    marker: str = "o"
    linestyle: str = "-"

    @classmethod
    def from_stanza(cls, stanza: Stanza) -> "Sender":
        """Take what concerns the look from a cca stanza."""
        return cls(stanza["name"], stanza["label"], stanza["colour"], stanza["marker"], stanza["linestyle"])


@dataclass(frozen=True)
class Moments:
    """The times that matter in a trial; null where the thing did not happen."""

    capacity_s: float | None = None
    true_capacity_s: float | None = None
    exit_s: float | None = None
    loss_s: float | None = None
    rule: str = "latency offset"  # the label of the rule that capacity_s is by

    def lines(self) -> list[tuple[str, float, str, Any]]:
        """Name, time, colour and dashes of each moment that happened, in order of time."""
        known = (
            ("true capacity", self.true_capacity_s, CAPACITY, (0, (1, 1.5))),
            (f"capacity by {self.rule}", self.capacity_s, CAPACITY, (0, (6, 3))),
            ("exit", self.exit_s, EXIT, (0, (4, 2))),
            ("first loss", self.loss_s, LOSS, (0, (2, 2, 6, 2))),
        )
        return sorted(
            ((name, t_s, colour, dashes) for name, t_s, colour, dashes in known if t_s is not None),
            key=lambda line: line[1],
        )

    def last_s(self) -> float | None:
        """Return the time of the last moment; null when none happened."""
        return max((t_s for _, t_s, _, _ in self.lines()), default=None)

    def in_words(self) -> str:
        """All of them as text, for captions and alternative texts."""
        summary = [f"{name} at {t_s:.2f} s" for name, t_s, _, _ in self.lines()]
        missing = [name for name, t_s in (("exit", self.exit_s), ("first loss", self.loss_s)) if t_s is None]
        return ", ".join(summary + [f"no {name}" for name in missing])


@dataclass(frozen=True)
class Drawing:
    """A figure with what a page needs to show it: a caption, and a text for those who cannot see it."""

    figure: Figure
    caption: str
    alt: str


def panels(count: int, height_in: float, heights: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Panels one above the other over one time axis."""
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(axes[:, 0])


def cumulative(axis: Axes, values: pl.Series, **look: Any) -> None:
    """Draw a cumulative distribution in percent, from 0 up; few values are marked one by one."""
    known = values.drop_nulls().sort()
    share_pct = [100 * number / known.len() for number in range(known.len() + 1)]
    few: Look = {"marker": "."} if known.len() <= MARKED_UP_TO else {}
    axis.step([*known.head(1), *known], share_pct[: known.len() + 1], where="post", **few, **look)
    axis.set_ylim(0, 102)


def footnote(figure: Figure, sentences: Sequence[str]) -> None:
    """Write small print below a figure, broken to its width."""
    chars = round(figure.get_figwidth() * FOOTNOTE_CHARS_AN_INCH)
    text = "\n".join(fill(sentence, chars) for sentence in sentences)
    figure.supxlabel(text, x=0.005, ha="left", fontsize=FOOTNOTE_PT, color=FAINT)


def mark_moments(axes: Sequence[Axes], moments: Moments) -> None:
    """Draw the moments through all panels, and name them above the first one; set the x limits before."""
    low, high = axes[0].get_xlim()
    lines = [line for line in moments.lines() if low <= line[1] <= high]
    for axis in axes:
        for _, t_s, colour, dashes in lines:
            axis.axvline(t_s, color=colour, linestyle=dashes, linewidth=1.5, zorder=3)
    name_verticals(axes[0], [(f"{name} {t_s:.2f} s", t_s, colour) for name, t_s, colour, _ in lines])


def name_verticals(axis: Axes, named: Sequence[tuple[str, float, str]]) -> None:
    """Write (name, x, colour) above vertical lines given in order of x, each on its own row.

    Names at the right are written leftwards; the rows are ordered so that no line runs through a name on
    its side.
    """
    low, high = axis.get_xlim()
    leftwards = [line for line in named if line[1] > low + LEFTWARDS_FROM * (high - low)]
    rightwards = [line for line in named if line not in leftwards]
    for row, (name, x, colour) in enumerate([*leftwards, *reversed(rightwards)]):
        _name(axis, row, (name, x, colour), row < len(leftwards))


def _name(axis: Axes, row: int, line: tuple[str, float, str], leftwards: bool) -> None:
    name, x, colour = line
    axis.annotate(
        f"{name} " if leftwards else f" {name}",
        xy=(x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 4 + 13 * row),
        textcoords="offset points",
        ha="right" if leftwards else "left",
        color=colour,
        fontsize=9,
        fontweight="bold",
        annotation_clip=False,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        zorder=5 - 0.1 * row,  # the lines to higher rows run behind the lower names
        arrowprops={"arrowstyle": "-", "color": colour, "shrinkA": 0, "shrinkB": 0, "relpos": (leftwards, 0)},
    )


def level(axis: Axes, value: float, text: str) -> None:
    """Draw a named horizontal line for a known limit."""
    axis.axhline(value, color=FAINT, linewidth=1, linestyle=(0, (1, 1)))
    backed = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    axis.text(
        0.008,
        value,
        text,
        transform=axis.get_yaxis_transform(),
        va="center",
        fontsize=9,
        bbox=backed,
        zorder=4,
    )


def envelope(table: pl.DataFrame, value: str, buckets: int = 1500) -> pl.DataFrame:
    """Return the rows that a line this wide can show: the smallest and largest value of each of the time buckets."""
    known = table.filter(pl.col(value).is_not_null())
    span_s = pl.col("t_s").max() - pl.col("t_s").min()
    bucketed = known.with_columns(bucket=((pl.col("t_s") - pl.col("t_s").min()) / span_s * buckets).floor())
    smallest, largest = pl.col(value).min().over("bucket"), pl.col(value).max().over("bucket")
    extremes = bucketed.filter((pl.col(value) == smallest) | (pl.col(value) == largest))
    return extremes.unique(["bucket", value], keep="first", maintain_order=True).drop("bucket")
