# SPDX-License-Identifier: GPL-2.0-or-later
"""What an at-capacity rule is: a name, a label, the tables that it needs, and a function that judges one trial.

A rule is one file in lab/judge/rules/, or in the folder that LAB_RULES names, that exports RULE. The outcomes, the
summary, the pages, the figures and the scores then have it. A scenario names it in `heuristic`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from traceback import extract_tb

import polars as pl

from lab.base.errors import UserError
from lab.judge import median_throughput
from lab.judge.ack_stream import windows
from lab.judge.classify import ExitClass
from lab.judge.loss import first_mark_s
from lab.judge.rtt import min_rtt_ms
from lab.judge.slow_start import SlowStartExit
from lab.tables.downloads import FLOW, requested_s
from lab.tables.stored_trial import Trial

FAULTS = (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError, pl.exceptions.PolarsError)
Point = tuple[float, ...]  # one value per constant of a rule


@dataclass
class Evidence:
    """What a rule judges from: the tables of a trial, its exit from slow start and its first loss."""

    trial: Trial
    exit: SlowStartExit | None
    loss_s: float | None

    @cached_property
    def min_rtt_ms(self) -> float | None:
        """The smallest RTT in the client's capture; null where the capture shows none."""
        return min_rtt_ms(self.trial.packets, FLOW)

    @cached_property
    def requested_s(self) -> float:
        """When the client requested its data: what the queue held before is not of the download."""
        return requested_s(self.trial.packets, FLOW)

    @cached_property
    def mark_s(self) -> float | None:
        """Time of the first mark that the client echoed; null where none was, as without ECN."""
        return first_mark_s(self.trial.packets, FLOW)

    @property
    def signal_s(self) -> float | None:
        """Time of the first loss or mark: from it on an exit is late."""
        return min((t_s for t_s in (self.loss_s, self.mark_s) if t_s is not None), default=None)

    @cached_property
    def throughput(self) -> pl.DataFrame:
        """Throughput at the client in intervals of 15 ms: begin_s, end_s, throughput_mbps."""
        return median_throughput.throughput(self.trial.packets, FLOW)

    @cached_property
    def windows(self) -> pl.DataFrame:
        """Return time, window and RTT sample of each ACK that delivered data: t_s, cwnd_pkts, rtt_ms."""
        return windows(self.trial.acks, FLOW)

    @property
    def exit_s(self) -> float | None:
        """Time of the exit; null where the sender never left slow start."""
        return self.exit.t_s if self.exit else None

    @property
    def exit_bitrate_mbps(self) -> float | None:
        """Return cwnd * MSS / RTT at the exit; null without an exit or an RTT."""
        return self.exit.bitrate_mbps(self.trial.meta["mss_bytes"]) if self.exit else None


@dataclass(frozen=True)
class Judgement:
    """What a rule finds in one trial; `median_mbps` only where the rule compares rates."""

    capacity_s: float | None
    exit_class: ExitClass | None
    median_mbps: float | None = None


@dataclass(frozen=True)
class Constants:
    """The constants of a rule, and a grid of other values over which the evaluation scores the rule."""

    labels: Mapping[str, str]  # by column of the table heuristics_constants: the constant, with its unit
    published: Point
    grid: tuple[Point, ...]
    judge: Callable[[Evidence, tuple[Point, ...]], Iterator[Judgement]]  # one judgement per point


@dataclass(frozen=True)
class Rule:
    """An at-capacity rule."""

    name: str  # of its file, in scenarios and in tables
    label: str  # on pages and in figures
    meaning: str  # one or two sentences for the page: when is the link at capacity?
    needs: tuple[str, ...]  # tables of a trial; the rule finds nothing where one of them is empty
    judge: Callable[[Evidence], Judgement]
    # Only of a rule that compares rates: the link's rate in Mb/s, from Evidence.throughput and the time of the exit.
    rate_mbps: Callable[[pl.DataFrame, float | None], float | None] | None = None
    constants: Constants | None = None

    def apply(self, evidence: Evidence) -> Judgement:
        """Judge a trial; nothing is found where a needed table has no row. UserError where the rule fails."""
        if any(getattr(evidence.trial, table).is_empty() for table in self.needs):
            return Judgement(None, None)
        try:
            return self.judge(evidence)
        except FAULTS as error:
            at = extract_tb(error.__traceback__)[:2][-1]  # of the rule's own file
            line = f"{at.filename}:{at.lineno}: {type(error).__name__}={error}"
            raise UserError(f"{line}: must be a rule that judges every trial: {self.name}") from error
