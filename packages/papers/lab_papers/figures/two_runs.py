# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs of one link over each other: each sender's congestion window and smoothed RTT, the second run dashed.

Of each run the sender's representative trial. What was changed between the runs is what the lines differ by.
"""

from collections.abc import Mapping, Sequence
from itertools import product

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lab.base.errors import UserError
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import in_house_style, is_narrow
from lab.figures.style import INK, Drawing, Look, canvas, envelope, key_above, title
from lab.figures.subject import Subject, subjects
from lab.judge.stored import Stored

COLUMNS = {"cwnd_pkts": "window\n(packets)", "srtt_ms": "smoothed\nRTT (ms)"}
LOOKS: tuple[Look, Look] = ({"linestyle": "-"}, {"linestyle": (0, (4, 2)), "alpha": 0.8})
PANEL_IN, NARROW_IN, KEY_IN = 2.0, 1.4, 0.8  # heights; narrow: where all panels stand below each other
POINTS = 600  # of each line
Pair = tuple[Subject, Subject]


def pairs(runs: Sequence[Stored]) -> dict[str, Pair]:
    """Return the representative trials of each sender that both runs have.

    UserError unless they are two runs of one link.
    """
    links = [str(stored.run.scenario["profile"]) for stored in runs]
    if len(links) != 2 or links[0] != links[1]:
        named = " ".join(stored.name for stored in runs)
        raise UserError(f"--run={named}: must be two runs of one link for this figure")
    first, second = ({each.sender.name: each for each in subjects(one.run, one.judged.outcomes)} for one in runs)
    return {name: (first[name], second[name]) for name in first if name in second}


@in_house_style
def figure(shown: Mapping[str, Pair], names: Sequence[str]) -> Figure:
    """Draw two panels per sender; names: of the two runs."""
    columns = 1 if is_narrow() else len(COLUMNS)
    rows = len(shown) * len(COLUMNS) // columns
    drawn = canvas((PANEL_IN if columns > 1 else NARROW_IN) * rows + KEY_IN)
    axes = drawn.subplots(rows, columns, sharex=True, squeeze=False)
    for axis, (pair, column) in zip(axes.flat, product(shown.values(), COLUMNS), strict=True):
        _panel(axis, pair, column)
        if column in list(COLUMNS)[:columns]:  # in a column the name stands once
            title(axis, pair[0].sender.label, 1 / columns)
    for axis in axes[-1]:
        axis.set_xlabel("time since the SYN (s)")
    key_above(drawn, [Line2D([], [], color=INK, label=name, **look) for name, look in zip(names, LOOKS, strict=True)])
    return drawn


def draw(runs: Sequence[Stored]) -> Drawing | None:
    """Draw two runs of one link; none where they have no sender in common."""
    shown = pairs(runs)
    if not shown:
        return None
    names = [stored.run.path.resolve().name for stored in runs]
    what = f"Window and smoothed RTT of each sender's representative trial: {names[0]} solid, {names[1]} dashed."
    alt = " ".join(each.title for pair in shown.values() for each in pair)
    return Drawing(figure(shown, names), what, f"{what} {alt}")


def _panel(axis: Axes, pair: Pair, column: str) -> None:
    for each, look in zip(pair, LOOKS, strict=True):
        line = envelope(each.acks, column, POINTS)
        axis.plot(line["t_s"], line[column], color=each.sender.colour, **look)
    axis.set_ylabel(COLUMNS[column])
    axis.set_ylim(bottom=0)


FIGURE = PageFigure("two_runs", Place.NO_PAGE, draw, of=Given.RUNS)
