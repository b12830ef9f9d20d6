# SPDX-License-Identifier: GPL-2.0-or-later
"""The moments of slow start: when the link was full, when the sender left, when a packet was first lost.

Their lines are black or grey, since colours are of senders and links; each has a dash pattern of its own, and its name
and time stand at it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lab.base.format import significant
from lab.figures.sheet import chars, in_house_style, small_pt, width_in
from lab.figures.style import FAINT, INK, Look

ROW = 1.4  # height of a line of text, in its size
LINE_PT = 1.3
TRUE_CAPACITY, LASTING = "true capacity", "lasting capacity"
CAPACITY, EXIT, LOSS, MARK = "capacity", "exit", "first loss", "first mark"
LOOKS: dict[str, Look] = {
    TRUE_CAPACITY: {"color": INK, "linestyle": (0, (1, 1.3)), "linewidth": LINE_PT},
    LASTING: {"color": INK, "linestyle": (0, (1, 3)), "linewidth": LINE_PT},
    CAPACITY: {"color": FAINT, "linestyle": (0, (6, 2)), "linewidth": LINE_PT},
    EXIT: {"color": INK, "linestyle": (0, (4, 1.5)), "linewidth": LINE_PT},
    LOSS: {"color": FAINT, "linestyle": (0, (1.5, 1.5, 6, 1.5)), "linewidth": LINE_PT},
    MARK: {"color": FAINT, "linestyle": (0, (1.5, 1.5, 1.5, 1.5, 6, 1.5)), "linewidth": LINE_PT},
}


@dataclass(frozen=True)
class Moments:
    """The times that matter in a trial; null where the thing did not happen."""

    capacity_s: float | None = None
    true_capacity_s: float | None = None
    exit_s: float | None = None
    loss_s: float | None = None
    rule: str = "latency offset"  # the label of the rule that capacity_s is by
    lasting_s: float | None = None  # by the stricter truth
    mark_s: float | None = None
    loss_hidden: bool = False  # of a user's stack

    def lines(self) -> list[tuple[str, float, Look]]:
        """Name, time and look of each moment that happened, in order of time."""
        known = (
            (TRUE_CAPACITY, self.true_capacity_s, LOOKS[TRUE_CAPACITY]),
            (LASTING, None if self.lasting_s == self.true_capacity_s else self.lasting_s, LOOKS[LASTING]),
            (f"capacity by {self.rule}", self.capacity_s, LOOKS[CAPACITY]),
            (EXIT, self.exit_s, LOOKS[EXIT]),
            (LOSS, self.loss_s, LOOKS[LOSS]),
            (MARK, self.mark_s, LOOKS[MARK]),
        )
        return sorted(((name, t_s, look) for name, t_s, look in known if t_s is not None), key=lambda line: line[1])

    def last_s(self) -> float | None:
        """Return the time of the last moment; null when none happened."""
        return max((t_s for _, t_s, _ in self.lines()), default=None)

    def in_words(self) -> str:
        """All of them as text, for captions and alternative texts."""
        summary = [f"{name} at {significant(t_s, 2)} s" for name, t_s, _ in self.lines()]
        no_loss = f"{LOSS} not visible" if self.loss_hidden else f"no {LOSS}"
        missing = [words for words, t_s in ((f"no {EXIT}", self.exit_s), (no_loss, self.loss_s)) if t_s is None]
        return ", ".join(summary + missing)


@in_house_style
def mark_moments(axes: Sequence[Axes], moments: Moments) -> None:
    """Draw the moments through all panels, and name them above the first one; set the x limits before."""
    low, high = axes[0].get_xlim()
    lines = [line for line in moments.lines() if low <= line[1] <= high]
    for axis in axes:
        for _, t_s, look in lines:
            axis.axvline(t_s, zorder=3, **look)
    name_verticals(axes[0], [(f"{name} {significant(t_s, 2)} s", t_s, look["color"]) for name, t_s, look in lines])


def key(names: Sequence[str]) -> list[Line2D]:
    """Return the entries of a legend for some of LOOKS: for panels too small for names at their lines."""
    return [Line2D([], [], label=name, **LOOKS[name]) for name in names]


@in_house_style
def name_verticals(axis: Axes, named: Sequence[tuple[str, float, str]]) -> None:
    """Write (name, x, colour) above vertical lines given in order of x, each on its own row.

    Names without room at the right are written leftwards; the rows are ordered so that no line runs through a name on
    its side.
    """
    low, high = axis.get_xlim()
    letters = chars(axis.get_position().width * width_in(), small_pt(), "bold")  # that the axis has room for
    places = [(name, x, colour, (x - low) / (high - low) * letters) for name, x, colour in named]
    leftwards = [line for line in places if line[3] + len(line[0]) > letters and line[3] > letters / 2]
    rightwards = [line for line in places if line not in leftwards]
    for row, (name, x, colour, place) in enumerate([*leftwards, *reversed(rightwards)]):
        room = place if row < len(leftwards) else letters - place
        _name(axis, row, (name, x, colour), row < len(leftwards), max(1 - room / len(name), 0.0))


def _name(axis: Axes, row: int, line: tuple[str, float, str], leftwards: bool, moved: float) -> None:
    """Write a name at its line, or to its left; `moved`: by which share of itself back over the line."""
    name, x, colour = line
    pt = small_pt()
    wide_pt = 72 * len(name) / chars(1.0, pt, "bold")
    at = 1 - moved if leftwards else moved
    look: dict[str, Any] = {"ha": "right" if leftwards else "left", "color": INK, "fontweight": "bold"}
    axis.annotate(
        f"{name} " if leftwards else f" {name}",
        xy=(x, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(moved * wide_pt * (1 if leftwards else -1), 4 + ROW * pt * row),
        textcoords="offset points",
        annotation_clip=False,
        fontsize=pt,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        zorder=5 - 0.1 * row,  # the lines to higher rows run behind the lower names
        arrowprops={"arrowstyle": "-", "color": colour, "shrinkA": 0, "shrinkB": 0, "relpos": (at, 0)},
        **look,
    )
