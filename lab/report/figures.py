# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a run's page: one over all trials, and those of each sender's representative trial."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lab.figures import cwnd_rtt, delivered_bytes, exit_times, latency_offset, throughput_cdf
from lab.figures.style import Drawing, Sender, footnote
from lab.figures.subject import Subject, subjects
from lab.judge.provenance import provenance
from lab.tables.stored_run import Run

OVERVIEW = "exit_times"
# In the order of the page; one that has nothing to show for a sender returns null.
PER_SENDER: dict[str, Callable[[Subject], Drawing | None]] = {
    "delivered_bytes": delivered_bytes.draw,
    "cwnd_rtt": cwnd_rtt.draw,
    "latency_offset": latency_offset.draw,
    "throughput_cdf": throughput_cdf.draw,
}


@dataclass(frozen=True)
class Named:
    """A drawing under the name of its file; `cca` and `trial` are null for the whole run."""

    name: str
    drawing: Drawing
    cca: str | None = None
    trial: int | None = None


def overview(run: Run, outcomes: pl.DataFrame) -> Named:
    """Every trial's exit against its capacity and first loss."""
    senders = [Sender.from_stanza(stanza) for stanza in run.meta["ccas"]]
    drawing = exit_times.draw(outcomes, senders, exit_times.duration_s(run))
    footnote(drawing.figure, provenance(run.meta["profile"]))
    return Named(OVERVIEW, drawing)


def per_sender(run: Run, outcomes: pl.DataFrame, replay_library: Path | None) -> Iterator[Named]:
    """Sender by sender, so that one trial's tables are in memory at a time."""
    for subject in subjects(run, outcomes, replay_library):
        cca, trial = subject.sender.name, subject.trial.number
        for name, draw in PER_SENDER.items():
            drawing = draw(subject)
            if drawing is not None:
                footnote(drawing.figure, provenance(run.meta["profile"]))
                yield Named(f"{name}-{cca}", drawing, cca, trial)
