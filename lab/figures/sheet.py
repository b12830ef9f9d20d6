# SPDX-License-Identifier: GPL-2.0-or-later
"""The style sheet in force: that of the lab's pages, or that of a paper with the user's own over it.

Style sheets are matplotlib's own style files. They also state the width of a figure, so no figure names a width or a
size of text.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from matplotlib import rc_context, rc_params_from_file, rcParams
from matplotlib import style as named_styles
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from lab.base.errors import UserError
from lab.base.paths import LAB

STYLES = LAB / "figures" / "styles"
WIDTHS_IN = {"column": 3.3, "page": 7.0}  # of a paper with two columns
NARROW_IN = 5.0  # below it panels stand one above the other
LETTERS = "the bottleneck's queue, in packets"  # of usual widths

P = ParamSpec("P")
R = TypeVar("R")
Settings = dict[Any, Any]  # as matplotlib's rc_context takes them


def _read(file: Path) -> Settings:
    return dict(rc_params_from_file(file, use_default_template=False))


SCREEN = _read(STYLES / "screen.mplstyle")
_settings: ContextVar[Settings] = ContextVar("settings", default=SCREEN)


def in_house_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a function under the style sheet in force: matplotlib reads it when an artist is made."""

    @wraps(draw)
    def styled(*given: P.args, **named: P.kwargs) -> R:
        with rc_context(_settings.get()):
            return draw(*given, **named)

    return styled


@contextmanager
def print_sheet(width: str, own: str | None = None) -> Iterator[None]:
    """Draw and save for a paper: a name of WIDTHS_IN, and the user's style file or the name of an installed style."""
    size = {"figure.figsize": (WIDTHS_IN[width], WIDTHS_IN[width] / 2)}
    token = _settings.set(SCREEN | _read(STYLES / "print.mplstyle") | size | (_own(own) if own else {}))
    try:
        yield
    finally:
        _settings.reset(token)


def _own(style: str) -> Settings:
    """Read the user's style; every line of a file must be a setting that matplotlib knows."""
    if style in named_styles.library:
        return dict(named_styles.library[style])
    file = Path(style)
    if not file.is_file():
        raise UserError(f"--style={style}: must be a style file, or the name of a style that matplotlib has")
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        key = line.split("#")[0].partition(":")[0].strip()
        if key and key not in rcParams:
            raise UserError(f"{file}: line {number}: {key[:60]}: must be a setting of matplotlib")
    try:
        return dict(rc_params_from_file(file, fail_on_error=True, use_default_template=False))
    except (ValueError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: must be a style file of matplotlib: {' '.join(str(error).split())[:200]}") from None


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
