# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial with the bins of SEARCH: the module's own record, or the compiled core replayed over the ACKs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from lab.figures.subject import Subject, subjects
from lab.judge.ack_stream import ack_stream
from lab.judge.stored import Stored
from lab.tables.downloads import FLOW
from lab_papers.search_replay import PRINTED, SearchParams, replay


@dataclass
class Replayed(Subject):
    """A trial to be drawn; `library` is the compiled SEARCH core, for senders that did not run it."""

    library: Path | None = None

    @cached_property
    def bins(self) -> pl.DataFrame | None:
        """The module's own record, else the core replayed over the ACKs; null when no core was given."""
        if self.own_bins.height:
            return self.own_bins
        return None if self.library is None else replayed_bins(self.acks, self.library)

    @cached_property
    def search(self) -> SearchParams:
        """The parameters of the SEARCH that `bins` are of: those that the trial's module had, else of the replay."""
        if not self.own_bins.height:
            return PRINTED
        stored = {name: self.trial.parameter(name) for name in asdict(PRINTED)}
        return replace(PRINTED, **{name: value for name, value in stored.items() if value is not None})


def replayed(run: Stored, library: Path | None) -> Iterator[Replayed]:
    """Yield the representative trial of each sender, in the order of the scenario."""
    for subject in subjects(run.run, run.judged.outcomes):
        yield Replayed(subject.trial, subject.sender, subject.moments, subject.capacity_s, library)


def replayed_bins(acks: pl.DataFrame, library: Path) -> pl.DataFrame:
    """Return the bins of SEARCH 2.0, Algorithm 1 as printed, over the ACKs of another sender."""
    stream = ack_stream(acks, FLOW)
    return replay(library, stream["t_us"], stream["rtt_us"], stream["delivered_bytes"], stop_at_exit=False)
