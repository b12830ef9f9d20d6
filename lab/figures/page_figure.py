# SPDX-License-Identifier: GPL-2.0-or-later
"""What a figure declares: a name, the place on a page that it belongs to, and the function that draws it.

A figure is one file in lab/figures/, or in the folder that LAB_FIGURES names, that exports FIGURE. Its function returns
a Drawing (the matplotlib Figure, its caption, and the text for readers who cannot see it), or None where there is
nothing to draw.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from lab.figures.style import Drawing


class Place(StrEnum):
    """Where a figure stands, and what its function is given."""

    RUN = "a run's page, over all trials: a Stored"
    TRIAL = "a run's page, of each sender's representative trial: a Subject"
    SUMMARY = "the index, in its summary: the Stored run of each link"
    RULES = "the page of the at-capacity rules: their trials (a frame), and the link's name by scenario"
    RECORDED = "the index, in its section of recorded downloads: a Comparison"
    NO_PAGE = "no page by itself: a notebook or a command draws it"


@dataclass(frozen=True)
class PageFigure:
    """A figure's declaration."""

    name: str  # of its files, and of its element on the page
    place: Place
    draw: Callable[..., Drawing | None]
    order: int = 100  # among the figures of its place; figures of one order stand by name
