# SPDX-License-Identifier: GPL-2.0-or-later
"""How SEARCH's exits change with its parameters, against a rule or the truth (thesis, figures 4.10 to 4.12 and 4.15).

Drawn from evaluation/sensitivity.parquet: shares of early, chokepoint and late exits of the published 2.0 replayed over
the ACK streams of downloads without HyStart.
"""

from itertools import pairwise

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style
from lab.figures.style import BLUE, GREEN, INK, VERMILION, Drawing, Look, canvas, key_above
from lab_papers.figures.replayed import Floats
from lab_papers.search_replay import PRINTED

LOOKS = {"early": (VERMILION, "--", "v"), "chokepoint": (GREEN, "-", "o"), "late": (BLUE, "-.", "^")}
LINES = {
    "bins": ("bins", "bins in the window", PRINTED.bins),
    "extra-bins": ("extra_bins", "extra bins", PRINTED.extra_bins),
}
JUDGES = {"heuristic": "judged by the rule of the papers", "truth": "judged by the true queue"}
MAP = "window-threshold"
THRESHOLD, WINDOW_RTTS = PRINTED.threshold_pct / 100, PRINTED.window_factor_tenths / 10
SHARES = Normalize(0, 100)


@in_house_style
def figure(table: pl.DataFrame, kind: str) -> Figure:
    """Shares over the parameter; over window and threshold, a heat map of each class."""
    return _heat_maps(table) if kind == MAP else _lines(table, *LINES[kind])


def _lines(table: pl.DataFrame, column: str, label: str, default: int) -> Figure:
    drawn = canvas(3.0)
    axis = drawn.subplots()
    for name in LOOKS:
        _share(axis, table.sort(column), column, name)
    axis.axvline(default, color=INK, lw=0.8, linestyle=":", label="published")
    axis.set_ylim(-2, 102)
    axis.set_ylabel("exits (%)")
    axis.set_xlabel(label)
    key_above(drawn, *axis.get_legend_handles_labels())
    return drawn


def _share(axis: Axes, table: pl.DataFrame, column: str, name: str) -> None:
    colour, dash, marker = LOOKS[name]
    share = table[f"{name}_pct"]
    below, above = share - table[f"{name}_lo_pct"], table[f"{name}_hi_pct"] - share
    bars = np.clip(np.array([below, above], dtype=np.float64), 0, None)
    look: Look = {"color": colour, "linestyle": dash, "marker": marker, "elinewidth": 0.8, "capsize": 1.5}
    axis.errorbar(table[column], share, bars, label=name, **look)


def _heat_maps(table: pl.DataFrame) -> Figure:
    drawn = canvas(3.6)
    axes = drawn.subplots(1, len(LOOKS), sharex=True, sharey=True)
    for axis, name in zip(axes, LOOKS, strict=True):
        windows, thresholds, shares = _grid(table, f"{name}_pct")
        columns, rows = _edges(thresholds), _edges(windows)
        shown = axis.pcolormesh(columns, rows, shares, cmap="cividis", norm=SHARES, edgecolor="face", linewidth=0.1)
        _mark_default(axis, columns, rows)
        axis.set_title(name)
        axis.grid(False)
        axis.set_xticks([0.1, 0.3, 0.5], [".1", ".3", ".5"])
    axes[0].set_ylabel("window (RTTs)")
    axes[1].set_xlabel("threshold (share)")
    drawn.colorbar(shown, ax=axes, label="exits (%)", pad=0.02, aspect=30)
    return drawn


def _grid(table: pl.DataFrame, column: str) -> tuple[Floats, Floats, Floats]:
    """Return windows, thresholds, and the values by both."""
    wide = table.sort("threshold").pivot("threshold", index="window_rtts", values=column).sort("window_rtts")
    thresholds = np.array([float(name) for name in wide.columns[1:]])
    return wide["window_rtts"].to_numpy(), thresholds, wide.drop("window_rtts").to_numpy().astype(np.float64)


def _edges(centres: Floats) -> Floats:
    between = [(low + high) / 2 for low, high in pairwise(centres)]
    if not between:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    return np.array([2 * centres[0] - between[0], *between, 2 * centres[-1] - between[-1]])


def _mark_default(axis: Axes, columns: Floats, rows: Floats) -> None:
    column, row = int(np.searchsorted(columns, THRESHOLD)), int(np.searchsorted(rows, WINDOW_RTTS))
    if 0 < column < len(columns) and 0 < row < len(rows):
        (left, right), (low, high) = columns[column - 1 : column + 1], rows[row - 1 : row + 1]
        for colour, lw in (("white", 2.4), (INK, 1.0)):
            axis.add_patch(Rectangle((left, low), right - left, high - low, fill=False, edgecolor=colour, lw=lw))


def draw(sensitivity: pl.DataFrame, kind: str, judge: str, scenario: str, link: str) -> Drawing | None:
    """Draw the map of one link by one judge; none where it was not made."""
    table = sensitivity.filter(map=kind, judge=judge, scenario=scenario)
    if table.is_empty():
        return None
    best = table.sort("chokepoint_pct", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    at = (
        f"window {best['window_rtts']:g} RTTs, threshold {best['threshold']:g}, "
        f"{best['bins']} bins, {best['extra_bins']} extra"
    )
    summary = f"most chokepoint exits ({best['chokepoint_pct'] or 0:.0f} %) with {at}"
    default = "framed" if kind == MAP else "dotted"
    what = (
        f"Exits of the published SEARCH 2.0, replayed over {best['trials']} downloads, by its parameters on {link}, "
        f"{JUDGES[judge]}; {default}: the published parameters"
    )
    return Drawing(figure(table, kind), f"{what}. {summary[0].upper()}{summary[1:]}.", f"{what}; {summary}.")


FIGURE = PageFigure("sensitivity", Place.NO_PAGE, draw, of=Given.MAP)
