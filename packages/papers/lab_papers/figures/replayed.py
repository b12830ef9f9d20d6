# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial with the bins of SEARCH (the module's own, or the core's over the ACKs), and its streams of bytes."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.figures.subject import Subject, subjects
from lab.judge.ack_stream import ack_stream
from lab.judge.stored import Stored
from lab.tables.downloads import FLOW
from lab_papers.search_replay import PRINTED, SearchParams, replay

Floats = npt.NDArray[np.float64]


@dataclass
class Streams:
    """The ACKs of one flow; tcp_probe shows the socket before an ACK: what the ACK changed is in the row after it."""

    acks: pl.DataFrame

    @cached_property
    def table(self) -> pl.DataFrame:
        """t_s, delivered_bytes, sent_bytes: after each ACK."""
        after_ack = self.acks.select(
            "t_s", delivered_bytes=pl.col("snd_una_bytes").shift(-1), sent_bytes=pl.col("snd_nxt_bytes").shift(-1)
        )
        return after_ack.drop_nulls()

    def delivered(self, t_s: npt.ArrayLike) -> Floats:
        """Bytes acknowledged until each time."""
        return self._held("delivered_bytes", t_s)

    def sent(self, t_s: npt.ArrayLike) -> Floats:
        """Bytes sent until each time."""
        return self._held("sent_bytes", t_s)

    def _held(self, column: str, t_s: npt.ArrayLike) -> Floats:
        index = np.searchsorted(self.table["t_s"].to_numpy(), np.asarray(t_s), "right") - 1
        values = self.table[column].to_numpy().astype(np.float64)
        return np.where(index < 0, 0.0, values[np.maximum(index, 0)])


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
