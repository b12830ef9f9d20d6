# SPDX-License-Identifier: GPL-2.0-or-later
"""How far from the truth each at-capacity rule puts the capacity, trial by trial and link by link.

Drawn from evaluation/heuristics_trials.parquet: rule minus truth, in seconds.
"""

from collections.abc import Mapping
from itertools import cycle
from textwrap import fill

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import chars, in_house_style, small_pt, width_in
from lab.figures.style import BARS, BLUE, FAINT, GREEN, INK, LABELS, VERMILION, Drawing, lines_canvas, title
from lab.judge.registry import inferred, label
from lab_papers.figures.parts import count_at_right

LOOKS = ((BLUE, "o"), (VERMILION, "v"), (GREEN, "s"), (FAINT, "D"))
MOST_POINTS = 200  # of one rule on one link, drawn one by one


@in_house_style
def figure(differences: pl.DataFrame, links: Mapping[str, str]) -> Figure:
    """Draw one panel per link and one row of points per rule; the bar is the mean."""
    scenarios = [name for name in links if name in set(differences["scenario"])]
    known = inferred()
    drawn = lines_canvas(len(known) * len(scenarios), len(scenarios))
    axes = drawn.subplots(len(scenarios), 1, squeeze=False)[:, 0]
    wide = chars(LABELS * width_in(), small_pt())
    for axis, scenario in zip(axes, scenarios, strict=True):
        for place, (rule, look) in enumerate(zip(known, cycle(LOOKS), strict=False)):
            values = differences.filter(scenario=scenario, rule=rule)["difference_s"].drop_nulls()
            _points(axis, place, values, look)
            count_at_right(axis, place, values.len())
        axis.axvline(0, color=INK, lw=1)
        axis.set_yticks(range(len(known)), [fill(rule.label, wide) for rule in known.values()], fontsize=small_pt())
        axis.set_ylim(len(known) - 0.5, -0.5)
        title(axis, links[scenario], BARS)
    axes[-1].set_xlabel("rule minus truth (s); bar: mean")
    return drawn


def _points(axis: Axes, place: int, known: pl.Series, look: tuple[str, str]) -> None:
    if known.is_empty():
        axis.text(0, place, " never found a capacity", va="center", fontsize=small_pt())
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
