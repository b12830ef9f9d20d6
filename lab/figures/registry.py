# SPDX-License-Identifier: GPL-2.0-or-later
"""All figures: files in lab/figures/ and in the folder that LAB_FIGURES names, and those that packages bring."""

from functools import cache
from pathlib import Path

from lab.base.additions import addition_files, load_addition
from lab.base.entry_points import loaded
from lab.base.errors import UserError
from lab.base.paths import LAB
from lab.figures.page_figure import PageFigure, Place

OWN = LAB / "figures"


def figures(place: Place) -> list[PageFigure]:
    """Return the figures of one place of the pages, in their order."""
    return [figure for figure in every_figure() if figure.place is place]


def every_figure() -> tuple[PageFigure, ...]:
    """Return all figures, in their order."""
    return _load(tuple(addition_files(OWN, "LAB_FIGURES").values()))


@cache
def _load(files: tuple[Path, ...]) -> tuple[PageFigure, ...]:
    found = [figure for file in files if (figure := _figure(file))] + list(loaded("lab.figures").values())
    return tuple(sorted(found, key=lambda figure: (figure.order, figure.name)))


def _figure(file: Path) -> PageFigure | None:
    """Return a file's declaration; None for the lab's own helpers, which draw nothing."""
    figure = getattr(load_addition(file), "FIGURE", None)
    if figure is None and file.parent == OWN:
        return None
    if not isinstance(figure, PageFigure):
        raise UserError(f"{file}: FIGURE={figure}: must be a lab.figures.page_figure.PageFigure")
    return figure
