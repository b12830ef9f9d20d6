# SPDX-License-Identifier: GPL-2.0-or-later
"""One trial as its figures see it: the sender's look, the moments, and the tables of the first data flow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from lab.figures.moments import Moments
from lab.figures.style import Sender
from lab.judge.registry import LASTING, TRUTH, TRUTHS, label, rule_of
from lab.judge.representative import representatives
from lab.judge.rule import Evidence
from lab.judge.rules import latency_offset
from lab.judge.slow_start import first_exit
from lab.tables.downloads import FLOW
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial


@dataclass
class Subject:
    """A trial to be drawn."""

    trial: Trial
    sender: Sender
    moments: Moments
    capacity_s: Mapping[str, float | None] = field(default_factory=dict)  # by rule

    @cached_property
    def acks(self) -> pl.DataFrame:
        """ACKs of the flow, as the server's kernel saw them."""
        return self.trial.acks.filter(pl.col("flow") == FLOW)

    @cached_property
    def own_bins(self) -> pl.DataFrame:
        """What the SEARCH module recorded of itself; empty for other senders."""
        return self.trial.bins.filter(pl.col("flow") == FLOW)

    @property
    def threshold_pct(self) -> int | None:
        """The threshold that the sender itself had; null of a sender without SEARCH, and where none is stored."""
        return self.trial.parameter("threshold_pct") if self.own_bins.height else None

    @cached_property
    def evidence(self) -> Evidence:
        """What rules judge the trial from."""
        return Evidence(self.trial, first_exit(self.trial.exits, FLOW), self.moments.loss_s)

    @cached_property
    def offsets(self) -> pl.DataFrame:
        """Latency offset of each data segment."""
        return latency_offset.offsets(self.trial.packets, FLOW)

    @property
    def title(self) -> str:
        """How captions name it."""
        return f"{self.sender.label}, trial {self.trial.number}: {self.moments.in_words()}."


def subjects(run: Run, outcomes: pl.DataFrame, only: str | None = None) -> Iterator[Subject]:
    """Yield the representative trial of each sender, or of one, in the order of the scenario."""
    chosen = representatives(outcomes)
    for name in (stanza["name"] for stanza in run.ccas if only in (None, stanza["name"])):
        if name in chosen and (found := subject(run, outcomes, name, chosen[name])):
            yield found


def subject(run: Run, outcomes: pl.DataFrame, cca: str, number: int) -> Subject | None:
    """Return one trial of a run; none where it is not stored."""
    stanza = next(stanza for stanza in run.ccas if stanza["name"] == cca)
    if (trial := run.trial(cca, number)) is None:
        return None
    rows, rule = outcomes.filter(cca=cca, trial=number), rule_of(run.scenario)
    capacity_s = dict(rows.select("heuristic", "capacity_s").iter_rows())
    exit_s, loss_s, mark_s, agrees = rows.select("exit_s", "loss_s", "mark_s", "loss_agrees").row(0)  # as in every row
    ruled_s = None if rule in TRUTHS else capacity_s[rule]
    lasting_s, hidden = capacity_s[LASTING], agrees is None
    moments = Moments(ruled_s, capacity_s[TRUTH], exit_s, loss_s, label(rule), lasting_s, mark_s, hidden)
    return Subject(trial, Sender.from_stanza(stanza), moments, capacity_s)
