# SPDX-License-Identifier: GPL-2.0-or-later
"""What figures share: a sender's own look, colours, the canvas, and parts of panels.

Colours are from Okabe and Ito's colour-blind-safe set, and no figure relies on colour alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import polars as pl
from matplotlib import rcParams
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.sheet import SCREEN, chars, in_house_style, is_narrow, small_pt, width_in
from lab.tables.records import Stanza

INK, FAINT = "#222222", "#808080"
BLUE, GREEN, VERMILION = "#0072b2", "#007f5f", "#d55e00"
KEY_CHARS = 6  # that the line and the gap of a legend's entry take
LABELS, BARS = 0.3, 0.55  # of the width: names of senders, broken to it, and the bars next to them
MARKED_UP_TO = 12
Look = dict[str, Any]  # keyword arguments of matplotlib


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
class Drawing:
    """A figure with what a page needs to show it: a caption, and a text for those who cannot see it."""

    figure: Figure
    caption: str
    alt: str
    provenance: tuple[str, ...] = ()  # what of the link was recorded, published and assumed

    @property
    def about(self) -> str:
        """Return what the figure's file keeps in its metadata."""
        return " ".join((self.caption, *self.provenance))


def canvas(height_in: float) -> Figure:
    """Return an empty figure as wide as the style sheet; the height is that on the lab's pages."""
    scale = (width_in() / SCREEN["figure.figsize"][0]) ** 0.5
    return Figure(figsize=(width_in(), scale * height_in), layout="constrained")


def lines_canvas(lines: float, panels: int = 1) -> Figure:
    """Return an empty figure for so many lines of text, or bars, in panels with a title or axis each."""
    line_in = (2.7 if is_narrow() else 2.0) * small_pt() / 72  # in a column names take two lines
    return Figure(figsize=(width_in(), line_in * (lines + 1.5 * panels + 4)), layout="constrained")


@in_house_style
def panels(count: int, height_in: float, heights: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Panels one above the other over one time axis."""
    figure = canvas(height_in)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(axes[:, 0])


def title(axis: Axes, text: str, share: float = 1.0) -> None:
    """Write the title of a panel that has this share of the figure's width, broken to it."""
    pt = float(rcParams["axes.titlesize"])
    axis.set_title(fill(text, chars(0.92 * share * width_in(), pt, rcParams["axes.titleweight"])))


def key_above(figure: Figure, handles: Sequence[Artist], labels: Sequence[str] | None = None) -> None:
    """Put one legend above all panels, in as many columns as fit."""
    names = [str(handle.get_label()) for handle in handles] if labels is None else list(labels)
    longest = max(map(len, names), default=1) + KEY_CHARS
    columns = min(max(chars(width_in(), small_pt()) // longest, 1), len(names) or 1)
    figure.legend(handles, names, loc="outside upper left", ncols=columns)


def cumulative(axis: Axes, values: pl.Series, **look: Any) -> None:
    """Draw a cumulative distribution in percent, from 0 up; few values are marked one by one."""
    known = values.drop_nulls().sort()
    share_pct = [0.0, *(100 * number / known.len() for number in range(1, known.len() + 1))]
    few: Look = {"marker": "."} if known.len() <= MARKED_UP_TO else {}
    axis.step([*known.head(1), *known], share_pct if known.len() else [], where="post", **few, **look)
    axis.set_ylim(0, 102)


@in_house_style
def level(axis: Axes, value: float, text: str) -> None:
    """Draw a named horizontal line for a known limit."""
    axis.axhline(value, color=FAINT, linewidth=1, linestyle=(0, (1, 1)))
    backed = {"facecolor": "white", "edgecolor": "none", "alpha": 0.5, "pad": 0}
    look: Look = {"va": "bottom", "fontsize": small_pt(), "bbox": backed, "zorder": 4}
    axis.text(0.008, value, text, transform=axis.get_yaxis_transform(), **look)


def envelope(table: pl.DataFrame, value: str, buckets: int = 1500) -> pl.DataFrame:
    """Return the rows that a line this wide can show: the smallest and largest value of each of the time buckets."""
    known = table.filter(pl.col(value).is_not_null())
    span_s = pl.col("t_s").max() - pl.col("t_s").min()
    bucketed = known.with_columns(bucket=((pl.col("t_s") - pl.col("t_s").min()) / span_s * buckets).floor())
    smallest, largest = pl.col(value).min().over("bucket"), pl.col(value).max().over("bucket")
    extremes = bucketed.filter((pl.col(value) == smallest) | (pl.col(value) == largest))
    return extremes.unique(["bucket", value], keep="first", maintain_order=True).drop("bucket")
