# SPDX-License-Identifier: GPL-2.0-or-later
"""What a figure declares: a name, the place on a page that it belongs to, and the function that draws it.

A figure is one file in lab/figures/, or in the folder that LAB_FIGURES names, that exports FIGURE. Its function returns
a Drawing (the matplotlib Figure, its caption, and the text for readers who cannot see it), or None where there is
nothing to draw. `lab figure` draws it for a paper.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from lab.figures.style import Drawing


class Place(StrEnum):
    """Where a figure stands."""

    RUN = "a run's page, over all trials"
    TRIAL = "a run's page, of each sender's representative trial"
    SUMMARY = "the index, in its summary"
    RULES = "the page of the at-capacity rules"
    RECORDED = "the index, in its section of recorded downloads"
    NO_PAGE = "no page by itself: a notebook or a command draws it"


class Given(StrEnum):
    """What a figure's function is given; the value names it in `lab figure`."""

    RUN = "a run"  # Stored
    TRIAL = "a run: one file per sender"  # Subject
    TRIALS = "a run: all senders in one"  # sequence of Subject
    RUNS = "runs of several links"  # sequence of Stored
    RULES = "results/evaluation"  # frame of heuristics_trials, and the link's name by scenario
    MAP = "a scenario of results/evaluation: one file per map"  # frame, kind, judge, scenario, link
    SWEEP = "a sweep's folder: one file per measure"  # frame, measure
    DOWNLOADS = "a run of geo-recorded, then recordings"  # Comparison
    RECORDING = "a recording"  # Recording, title
    SPECTRUM = "a recording with round trips"  # Spectrum, title


OF_PLACE = {
    Place.RUN: Given.RUN,
    Place.TRIAL: Given.TRIAL,
    Place.SUMMARY: Given.RUNS,
    Place.RULES: Given.RULES,
    Place.RECORDED: Given.DOWNLOADS,
}


@dataclass(frozen=True)
class PageFigure:
    """A figure's declaration."""

    name: str  # of its files, and of its element on the page
    place: Place
    draw: Callable[..., Drawing | None]
    order: int = 100  # among the figures of its place; figures of one order stand by name
    of: Given | None = None  # only with NO_PAGE: what its function is given

    @property
    def given(self) -> Given | None:
        """Return what its function is given; null where only the file itself knows."""
        return OF_PLACE.get(self.place, self.of)

    @property
    def about(self) -> str:
        """Return the first sentence of its file."""
        return str(self.draw.__globals__.get("__doc__") or "").strip().split("\n")[0]
