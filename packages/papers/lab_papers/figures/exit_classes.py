# SPDX-License-Identifier: GPL-2.0-or-later
"""Where each sender leaves slow start on each link: shares of early, chokepoint and late, with the published ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from lab.figures.exit_times import HATCHES, ZONES
from lab.figures.page_figure import PageFigure, Place
from lab.figures.sheet import chars, in_house_style, small_pt, width_in
from lab.figures.style import BARS, INK, LABELS, Drawing, Look, key_above, lines_canvas, title
from lab.judge.classify import ExitClass
from lab.judge.registry import LASTING
from lab.judge.stored import Stored, in_order
from lab.judge.summary import summarise
from lab.report.published import published
from lab_papers.figures.parts import count_at_right

MEANINGS = {
    ExitClass.EARLY: "early: before the queue stayed filled",
    ExitClass.CHOKEPOINT: "chokepoint: in between",
    ExitClass.LATE: "late: after a loss",
}
NUMBER_FROM_PCT = 9  # a narrower share has no room for its number


@dataclass(frozen=True)
class Share:
    """One bar: a sender on a link; published shares are null where no source gives them."""

    link: str
    sender: str
    judged: int
    ours_pct: dict[str, float | None]
    published_pct: dict[str, float | None]


def shares(runs: Sequence[Stored]) -> list[Share]:
    """Return one Share per sender and run, judged by the true queue."""
    rows = []
    for stored in runs:
        summary = summarise(stored.judged.outcomes, [stanza["name"] for stanza in stored.ccas])
        for row in summary.filter(heuristic=LASTING).iter_rows(named=True):
            ours_pct = {str(name): row[f"{name}_pct"] for name in ExitClass}
            theirs_pct = _published_pct(stored, row["cca"])
            rows.append(Share(stored.link, stored.label(row["cca"]), row["judged"], ours_pct, theirs_pct))
    return rows


@in_house_style
def figure(rows: Sequence[Share]) -> Figure:
    """Draw one group per link: a thick bar for our shares, and a thin one below for the published shares."""
    links = list(dict.fromkeys(row.link for row in rows))
    counts = [sum(row.link == link for row in rows) for link in links]
    drawn = lines_canvas(len(rows), len(links))
    axes = drawn.subplots(len(links), 1, sharex=True, squeeze=False, height_ratios=counts)[:, 0]
    for axis, link in zip(axes, links, strict=True):
        _group(axis, [row for row in rows if row.link == link])
        title(axis, link, BARS)
    axes[-1].set_xlim(0, 100)
    axes[-1].set_xlabel("judged trials (%); thin: published")
    look: Look = {"edgecolor": INK, "linewidth": 0.5}
    handles = [Patch(facecolor=ZONES[zone], hatch=HATCHES[zone], label=MEANINGS[zone], **look) for zone in ExitClass]
    key_above(drawn, handles)
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing:
    """Draw the figure of several runs."""
    rows = shares(in_order(runs))
    caption = (
        "Where each sender left slow start, link by link: before the bottleneck's queue stayed filled (early), after "
        "it and before a loss (chokepoint), or upon a loss (late)."
    )
    summary = "; ".join(f"{row.link}, {row.sender}: {_describe(row.ours_pct)}" for row in rows)
    return Drawing(figure(rows), caption, f"{caption} {summary}.")


def _published_pct(stored: Stored, cca: str) -> dict[str, float | None]:
    """Return the published shares of a sender's exits; null where no source gives the share at the chokepoint."""
    values = {str(zone): published(stored, cca, f"{zone}_pct") for zone in ExitClass}
    is_given = values[ExitClass.CHOKEPOINT] is not None
    return {zone: value.value if value and is_given else None for zone, value in values.items()}


def _group(axis: Axes, rows: Sequence[Share]) -> None:
    for place, row in enumerate(rows):
        _bar(axis, place - 0.12, 0.5, row.ours_pct, numbers=True)
        _bar(axis, place + 0.28, 0.16, row.published_pct, numbers=False)
        count_at_right(axis, place, row.judged)
        if not row.judged:
            axis.text(1, place - 0.12, "no trial that can be judged", va="center", fontsize=small_pt())
    wide = chars(LABELS * width_in(), small_pt())
    axis.set_yticks(range(len(rows)), [fill(row.sender, wide) for row in rows], fontsize=small_pt())
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.grid(False)
    axis.tick_params(axis="y", length=0)
    for side in ("left", "bottom"):
        axis.spines[side].set_visible(False)


def _bar(axis: Axes, place: float, height: float, pct: dict[str, float | None], *, numbers: bool) -> None:
    begin = 0.0
    for zone in ExitClass:
        width = pct[zone]
        if not width:
            continue
        look: Look = {"color": ZONES[zone], "hatch": HATCHES[zone], "edgecolor": INK, "lw": 0.5}
        axis.barh(place, width, height, left=begin, **look)
        if numbers and width >= NUMBER_FROM_PCT:
            text: Look = {"ha": "center", "va": "center", "fontsize": small_pt()}
            backed = {"facecolor": ZONES[zone], "edgecolor": "none", "pad": 0.8}
            axis.text(begin + width / 2, place, f"{width:.0f}", bbox=backed, **text)
        begin += width


def _describe(pct: dict[str, float | None]) -> str:
    known = [f"{value:.0f} % {name}" for name, value in pct.items() if value is not None]
    return ", ".join(known) or "not judged"


FIGURE = PageFigure("summary", Place.SUMMARY, draw)
