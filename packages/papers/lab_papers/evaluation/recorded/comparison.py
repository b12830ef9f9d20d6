# SPDX-License-Identifier: GPL-2.0-or-later
"""One run and the recorded downloads, taken together: what the command, the figure and the page show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl
from lab_formats.named import find

from lab.base.errors import UserError
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab.traces.datasets import Dataset, datasets, stem
from lab_papers.evaluation.recorded.bands import Band, bands, marks
from lab_papers.evaluation.recorded.download import Download, emulated, recorded
from lab_papers.evaluation.recorded.gateway_drop import Gateway, in_truth

SCENARIO = "geo-recorded"
LIKE_RECORDED = "cubic_plain"  # the recorded senders left HyStart off
MEANING = "acks"  # of the recordings that are logs of ACKs


@dataclass(frozen=True)
class Comparison:
    """The trials of one sender and recorded downloads, each on the clock of its first data segment."""

    run: str  # scenario and run
    sender: str
    trials: tuple[Download, ...]
    truths: tuple[Gateway | None, ...]  # of the trials, in their order
    recorded: tuple[Download, ...]

    @cached_property
    def bands(self) -> dict[str, Band]:
        """The band of each quantity."""
        return bands(self.trials)

    @cached_property
    def recorded_marks(self) -> pl.DataFrame:
        """What sums up each recorded download."""
        return marks(self.recorded)

    @cached_property
    def emulated_marks(self) -> pl.DataFrame:
        """What sums up each trial."""
        return marks(self.trials)


def compare_recorded(folder: Path, names: Sequence[str]) -> Comparison:
    """Read a run and recordings: by name, by collection or as files; without names, all logs of ACKs that are there."""
    run = Run(folder)
    senders = run.scenario["ccas"]
    sender = str(LIKE_RECORDED if LIKE_RECORDED in senders else senders[0])
    trials = [trial for trial in run.trials if trial.cca == sender and trial.valid]
    known = [(trial, download) for trial in trials if (download := emulated(trial)) is not None]
    if not known:
        raise UserError(f"{folder}: must hold a valid trial of {sender} that delivered data")
    return Comparison(
        run=f"{folder.resolve().parent.name}, {folder.resolve().name}",
        sender=sender,
        trials=tuple(download for _, download in known),
        truths=tuple(_truth(trial, download) for trial, download in known),
        recorded=tuple(recorded(find(name, None, []), stem(Path(name).name)) for name in _members(names) or _fetched()),
    )


def logs() -> dict[str, Dataset]:
    """Return the recordings that are logs of ACKs, by name."""
    return {name: one for name, one in datasets().items() if MEANING in one.recorded}


def fetch_command() -> str:
    """Return the command that fetches them."""
    collections = dict.fromkeys(one.collection for one in logs().values())
    return f"lab traces fetch {' '.join(collections)}"


def fetched() -> list[str]:
    """Return the names of those that were fetched."""
    return [name for name, one in logs().items() if one.fetched]


def _truth(trial: Trial, download: Download) -> Gateway | None:
    found = in_truth(trial.qdisc)
    return found and replace(found, sent_s=found.sent_s - download.start_s)


def _fetched() -> list[str]:
    found = fetched()
    if not found:
        raise UserError(f"recordings: must be given, or fetched: {fetch_command()}")
    return found


def _members(names: Sequence[str]) -> list[str]:
    """Put a collection's recordings in its place."""
    of: dict[str, list[str]] = {}
    for name, one in logs().items():
        of.setdefault(one.collection, []).append(name)
    return [each for name in names for each in of.get(name.rstrip("/"), [name])]
