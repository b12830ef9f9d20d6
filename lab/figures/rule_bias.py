# SPDX-License-Identifier: GPL-2.0-or-later
"""How far from the truth each at-capacity rule puts the capacity, trial by trial and link by link.

Drawn from evaluation/heuristics_trials.parquet: rule minus truth, in seconds.
"""

import sys
from collections.abc import Mapping
from itertools import cycle
from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.page_figure import PageFigure, Place
from lab.figures.save import save
from lab.figures.style import CAPACITY, EXIT, FAINT, INK, LOSS, WIDTH_IN, Drawing, in_house_style
from lab.judge.registry import inferred, label

LOOKS = ((CAPACITY, "o"), (LOSS, "v"), (EXIT, "s"), (FAINT, "D"))
MOST_POINTS = 200  # of one rule on one link, drawn one by one


@in_house_style
def figure(differences: pl.DataFrame, links: Mapping[str, str]) -> Figure:
    """Draw one panel per link and one row of points per rule; the bar is the mean."""
    scenarios = [name for name in links if name in set(differences["scenario"])]
    known = inferred()
    drawn = Figure(figsize=(WIDTH_IN + 1.4, 0.5 + 0.42 * len(known) * len(scenarios)), layout="constrained")
    axes = drawn.subplots(len(scenarios), 1, squeeze=False)[:, 0]
    for axis, scenario in zip(axes, scenarios, strict=True):
        for place, (rule, look) in enumerate(zip(known, cycle(LOOKS), strict=False)):
            _points(axis, place, differences.filter(scenario=scenario, rule=rule)["difference_s"].drop_nulls(), look)
        axis.axvline(0, color=INK, lw=1)
        axis.set_yticks(range(len(known)), [rule.label for rule in known.values()], fontsize=9)
        axis.set_ylim(len(known) - 0.5, -0.5)
        axis.set_title(links[scenario], fontsize=10, fontweight="bold")
    axes[-1].set_xlabel("the rule's capacity minus the true one (s); bar: mean")
    return drawn


def _points(axis: Axes, place: int, known: pl.Series, look: tuple[str, str]) -> None:
    """Draw the differences of one rule on one link."""
    if known.is_empty():
        axis.text(0, place, "never found a capacity", va="center", fontsize=8)
        return
    colour, marker = look
    shown = known.gather_every(max(known.len() // MOST_POINTS, 1))
    jitter = [place + 0.22 * ((n % 5) / 4 - 0.5) for n in range(shown.len())]
    axis.plot(shown, jitter, marker, color=colour, markersize=3.5, alpha=0.45, markeredgewidth=0)
    axis.vlines(float(known.to_numpy().mean()), place - 0.35, place + 0.35, color=INK, lw=2.4)


def draw(differences: pl.DataFrame, links: Mapping[str, str]) -> Drawing | None:
    """Draw the figure of every link that was judged; none where none was."""
    shown = pl.DataFrame() if differences.is_empty() else differences.filter(pl.col("scenario").is_in(list(links)))
    if shown.is_empty():
        return None
    means = differences.drop_nulls("difference_s").group_by("scenario", "rule", maintain_order=True)
    rows = means.agg(pl.col("difference_s").mean(), pl.len()).iter_rows(named=True)
    summary = "; ".join(
        f"{links.get(row['scenario'], row['scenario'])}, {label(row['rule'])}: {row['difference_s']:+.2f} s "
        f"in {row['len']} trials"
        for row in rows
    )
    what = "By how much each at-capacity rule misses the moment at which the queue truly filled, one point per trial"
    return Drawing(figure(differences, links), f"{what}.", f"{what}. Means: {summary}.")


FIGURE = PageFigure("rule_bias", Place.RULES, draw)


def main() -> None:
    """Draw EVALUATION_DIR's rules into OUT_DIR."""
    folder, out = map(Path, sys.argv[1:])
    table = pl.read_parquet(folder / "heuristics_trials.parquet")
    drawing = draw(table, {name: name for name in table["scenario"].unique(maintain_order=True)})
    if drawing is not None:
        print(*save(drawing.figure, out / "rule_bias"))


if __name__ == "__main__":
    main()
