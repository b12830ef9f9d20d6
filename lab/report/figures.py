# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a run's page: those over all trials, and those of each sender's representative trial."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lab.figures.page_figure import Place
from lab.figures.registry import figures
from lab.figures.style import Drawing
from lab.figures.subject import subjects
from lab.judge.provenance import provenance
from lab.judge.stored import Stored


@dataclass(frozen=True)
class Named:
    """A drawing under the name of its file; `cca` and `trial` are null for the whole run."""

    name: str
    drawing: Drawing
    cca: str | None = None
    trial: int | None = None


def over_all_trials(stored: Stored) -> Iterator[Named]:
    """Yield the figures over all trials of a run."""
    for figure in figures(Place.RUN):
        if drawing := figure.draw(stored):
            yield Named(figure.name, replace(drawing, provenance=provenance(stored.run.meta["profile"])))


def per_sender(stored: Stored, only: str | None = None) -> Iterator[Named]:
    """Yield the figures of each sender's trial, or of one sender's: one trial's tables are in memory at a time."""
    for subject in subjects(stored.run, stored.judged.outcomes, only):
        cca, trial = subject.sender.name, subject.trial.number
        for figure in figures(Place.TRIAL):
            if drawing := figure.draw(subject):
                shown = replace(drawing, provenance=provenance(stored.run.meta["profile"]))
                yield Named(f"{figure.name}-{cca}", shown, cca, trial)
