# SPDX-License-Identifier: GPL-2.0-or-later
"""Exit time and retransmissions of each sender: means with standard errors (thesis, figures 5.10 and 5.11, b and c)."""

from collections.abc import Sequence
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.base.format import NONE
from lab.base.stats import mean_sd
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import chars, in_house_style, is_narrow, small_pt, width_in
from lab.figures.style import BARS, INK, LABELS, Drawing, Sender, lines_canvas, title
from lab.judge.copies import distinct
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored, in_order
from lab_papers.figures.parts import count_at_right

PANELS = {"exit_s": ("exit from slow start (s)", 3), "retransmits_pkts": ("retransmissions (packets)", 0)}
Mean = tuple[float | None, float | None, int]  # mean, standard error, of how many


def means(stored: Stored, column: str) -> list[tuple[Sender, Mean]]:
    """Mean and standard error of each sender's valid trials in which it exists."""
    rows = distinct(stored.judged.outcomes).filter(heuristic=TRUTH)
    found = []
    for stanza in stored.ccas:
        values = rows.filter(cca=stanza["name"])[column].drop_nulls()
        mean, sd = mean_sd(values)
        found.append(
            (Sender.from_stanza(stanza), (mean, None if sd is None else sd / values.len() ** 0.5, values.len()))
        )
    return found


@in_house_style
def figure(runs: Sequence[Stored]) -> Figure:
    """Draw one row per link, one column per quantity, and one bar per sender."""
    bars = sum(len(stored.ccas) for stored in runs)
    columns = 1 if is_narrow() else len(PANELS)
    rows = len(runs) * len(PANELS) // columns
    drawn = lines_canvas(bars * len(PANELS) / columns, rows)
    axes = drawn.subplots(rows, columns, squeeze=False).reshape(len(runs), len(PANELS))
    for stored, row in zip(runs, axes, strict=True):
        for axis, (column, (label, digits)) in zip(row, PANELS.items(), strict=True):
            _bars(axis, means(stored, column), digits)
            axis.set_xlabel(label)
        if columns > 1:
            row[1].set_yticklabels([])
        title(row[0], stored.link, BARS)
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing:
    """Draw the figure of several links."""
    runs = in_order(runs)
    what = "When slow start was left and what was sent again: means over the valid trials, with their standard errors"
    summary = "; ".join(f"{stored.link}: {_describe(stored)}" for stored in runs)
    return Drawing(figure(runs), f"{what}.", f"{what}. {summary}.")


def _bars(axis: Axes, found: Sequence[tuple[Sender, Mean]], digits: int) -> None:
    largest = max((mean + (error or 0) for _, (mean, error, _) in found if mean is not None), default=1.0) or 1.0
    wide = chars(LABELS * width_in() * (1 if is_narrow() else 0.6), small_pt())
    for place, (sender, (mean, error, count)) in enumerate(found):
        count_at_right(axis, place, count)
        if mean is None:
            axis.text(0, place, " none", va="center", fontsize=small_pt())
            continue
        axis.barh(place, mean, 0.6, color=sender.colour, edgecolor=INK, lw=0.5, xerr=error, ecolor=INK, capsize=3)
        end = mean + (error or 0) + 0.04 * largest
        axis.text(end, place, f"{mean:,.{digits}f}", va="center", fontsize=small_pt())
    axis.set_yticks(range(len(found)), [fill(sender.label, wide) for sender, _ in found], fontsize=small_pt())
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xlim(0, 1.5 * largest)
    axis.grid(False, axis="y")


def _describe(stored: Stored) -> str:
    summary = []
    for column, (label, digits) in PANELS.items():
        known = [
            f"{sender.label} {NONE if mean is None else f'{mean:.{digits}f}'}"
            for sender, (mean, _, _) in means(stored, column)
        ]
        summary.append(f"{label} {', '.join(known)}")
    return "; ".join(summary)


FIGURE = PageFigure("sender_means", Place.NO_PAGE, draw, of=Given.RUNS)
