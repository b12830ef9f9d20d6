# SPDX-License-Identifier: GPL-2.0-or-later
"""The style sheet in force: that of the lab's pages, or that of a paper with the user's own over it.

Style sheets are matplotlib's own style files. They also state the width of a figure, so no figure names a width or a
size of text.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from matplotlib import rc_context, rc_params_from_file, rcParams
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from lab.base.paths import LAB

STYLES = LAB / "figures" / "styles"
NARROW_IN = 5.0  # below it panels stand one above the other
LETTERS = "the bottleneck's queue, in packets"  # of usual widths

P = ParamSpec("P")
R = TypeVar("R")
Settings = dict[Any, Any]  # as matplotlib's rc_context takes them


def read_style(file: Path) -> Settings:
    """Read a style sheet of the lab's."""
    return dict(rc_params_from_file(file, use_default_template=False))


SCREEN = read_style(STYLES / "screen.mplstyle")
in_force: ContextVar[Settings] = ContextVar("settings", default=SCREEN)


def in_house_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a function under the style sheet in force: matplotlib reads it when an artist is made."""

    @wraps(draw)
    def styled(*given: P.args, **named: P.kwargs) -> R:
        with rc_context(in_force.get()):
            return draw(*given, **named)

    return styled


def width_in() -> float:
    """Return the width of a figure; valid within in_house_style."""
    return float(rcParams["figure.figsize"][0])


def is_narrow() -> bool:
    """Return whether panels have no room next to each other; valid within in_house_style."""
    return width_in() < NARROW_IN


def small_pt() -> float:
    """Return the size of text within a panel; valid within in_house_style."""
    return float(FontProperties(size=rcParams["legend.fontsize"]).get_size_in_points())


def chars(inches: float, pt: float, weight: str = "normal") -> int:
    """Return how many letters of the sheet's font fit into a width."""
    return max(int(inches * len(LETTERS) / _sample_in(pt, weight, tuple(rcParams["font.family"]))), 1)


@cache
def _sample_in(pt: float, weight: str, family: tuple[str, ...]) -> float:
    """Return how wide the sample is: to measure it takes a tenth of a second, a quarter of a figure's time."""
    found = FontProperties(family=list(family), weight=weight)
    return float(TextPath((0, 0), LETTERS, size=pt, prop=found).get_extents().width) / 72
