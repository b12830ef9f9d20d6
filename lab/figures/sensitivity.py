# SPDX-License-Identifier: GPL-2.0-or-later
"""How SEARCH's exits change with its parameters, against a rule or the truth (thesis, figures 4.10 to 4.12 and 4.15).

Drawn from evaluation/sensitivity.parquet: shares of early, chokepoint and late exits of the published 2.0 replayed over
the ACK streams of downloads without HyStart.
"""

import sys
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.page_figure import PageFigure, Place
from lab.figures.save import save
from lab.figures.style import CAPACITY, EXIT, INK, LOSS, WIDTH_IN, Drawing, in_house_style

LOOKS = {"early": (LOSS, "--", "v"), "chokepoint": (EXIT, "-", "o"), "late": (CAPACITY, "-.", "^")}
AXES = {
    "window-threshold": ("threshold", "threshold (share)", 0.35),
    "bins": ("bins", "bins in the window", 10),
    "extra-bins": ("extra_bins", "extra bins", 15),
}
JUDGES = {"heuristic": "judged by the rule of the papers", "truth": "judged by the true queue"}
MOST_COLUMNS = 4


@in_house_style
def figure(table: pl.DataFrame, kind: str) -> Figure:
    """Shares over the parameter; for window-threshold, one panel per window size."""
    column, label, default = AXES[kind]
    facets = table["window_rtts"].unique().sort().to_list() if kind == "window-threshold" else [None]
    wide = min(MOST_COLUMNS, len(facets))
    tall = -(-len(facets) // wide)
    drawn = Figure(figsize=(WIDTH_IN + (1.2 if wide > 1 else 0), 0.7 + 2.3 * tall), layout="constrained")
    axes = drawn.subplots(tall, wide, sharex=True, sharey=True, squeeze=False)
    for axis, facet in zip(axes.flat, facets, strict=False):
        of_facet = table if facet is None else table.filter(pl.col("window_rtts") == facet)
        _shares(axis, of_facet.sort(column), column)
        axis.axvline(default, color=INK, lw=0.8, linestyle=":")
        if facet is not None:
            axis.set_title(f"window {facet:g} RTTs", fontsize=9)
    for axis in axes.flat[len(facets) :]:
        axis.set_axis_off()
    for row in axes:
        row[0].set_ylabel("exits (%)")
    for axis in axes[-1]:
        axis.set_xlabel(label)
    axes[0][0].set_ylim(-2, 102)
    drawn.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    return drawn


def draw(sensitivity: pl.DataFrame, kind: str, judge: str, scenario: str, link: str) -> Drawing | None:
    """Draw the map of one link by one judge; none where it was not made."""
    table = sensitivity.filter(map=kind, judge=judge, scenario=scenario)
    if table.is_empty():
        return None
    best = table.sort("chokepoint_pct", descending=True, nulls_last=True).row(0, named=True)
    at = (
        f"window {best['window_rtts']:g} RTTs, threshold {best['threshold']:g}, "
        f"{best['bins']} bins, {best['extra_bins']} extra"
    )
    summary = f"most chokepoint exits ({best['chokepoint_pct'] or 0:.0f} %) with {at}"
    what = f"Exits of the published SEARCH 2.0, replayed, by its parameters on {link}, {JUDGES[judge]}; dotted: default"
    return Drawing(figure(table, kind), f"{what}. {summary[0].upper()}{summary[1:]}.", f"{what}; {summary}.")


def _shares(axis: Axes, table: pl.DataFrame, column: str) -> None:
    for name, (colour, dash, marker) in LOOKS.items():
        low, high = table[f"{name}_lo_pct"], table[f"{name}_hi_pct"]
        axis.plot(
            table[column], table[f"{name}_pct"], color=colour, linestyle=dash, marker=marker, markersize=3, label=name
        )
        axis.fill_between(table[column], low, high, color=colour, alpha=0.13, lw=0)


FIGURE = PageFigure("sensitivity", Place.NO_PAGE, draw)


def main() -> None:
    """Draw every map of EVALUATION_DIR into OUT_DIR."""
    folder, out = map(Path, sys.argv[1:])
    table = pl.read_parquet(folder / "sensitivity.parquet")
    for kind, judge, scenario in table.select("map", "judge", "scenario").unique(maintain_order=True).iter_rows():
        drawing = draw(table, kind, judge, scenario, scenario)
        if drawing is not None:
            print(*save(drawing.figure, out / f"sensitivity-{scenario}-{kind}-{judge}"))


if __name__ == "__main__":
    main()
