# SPDX-License-Identifier: GPL-2.0-or-later
"""The outcome of a trial: one row per at-capacity rule.

The exit, the first loss, throughput and retransmissions are the trial's; capacity and class depend on the
rule. An exit that a rule calls early or at the chokepoint, by a record of a user's code, is compared with the packets:
where they contradict it, it has no class. A value that does not exist (no exit, capacity never reached, nothing lost)
is null.

Every time counts from when the data connection's SYN left the client. Many sources count from the first data segment:
`data_s` is when that arrived at the client, so that a time less `data_s` is on such a source's clock.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import polars as pl

from lab.base.stats import largest, smallest
from lab.judge import loss
from lab.judge.classify import ExitClass
from lab.judge.frames import schema_of
from lab.judge.registry import rules
from lab.judge.rule import Evidence, Judgement
from lab.judge.seen_exit import contradiction
from lab.judge.slow_start import BY_LOSS, first_exit
from lab.tables.downloads import FLOW, first_data_s
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import FlowJson


class Outcome(TypedDict):
    """What one rule finds in one trial."""

    cca: str
    trial: int
    valid: bool
    data_s: float | None
    heuristic: str
    exit_class: str | None
    capacity_s: float | None
    loss_s: float | None
    mark_s: float | None
    exit_s: float | None
    contradiction: str | None
    exit_cause: str | None
    exit_bitrate_mbps: float | None
    median_mbps: float | None
    min_rtt_ms: float | None
    loss_agrees: bool | None
    throughput_mbps: float | None
    retransmits_pkts: int | None
    packets: str


SCHEMA = schema_of(Outcome)


@dataclass(frozen=True)
class Captured:
    """What the capture shows, whatever the rule."""

    data_s: float | None
    loss_agrees: bool | None
    packets: str
    contradiction: str | None


def outcomes(trials: Iterable[Trial]) -> pl.DataFrame:
    """Return one row per trial and rule, trial by trial: only the rows stay in memory."""
    # A trial keeps the tables it has read: each copy takes its own with it.
    rows = [row for trial in trials for row in outcome(copy(trial))]
    return pl.DataFrame(rows, schema=SCHEMA)


def outcome(trial: Trial) -> list[Outcome]:
    """Return the rows of one trial, one per rule in the order of the registry."""
    evidence = Evidence(trial, first_exit(trial.exits, FLOW), loss.first_loss_s(trial.packets, FLOW))
    flow = next(flow for flow in trial.meta["flows"] if flow["flow"] == FLOW)
    found = {name: rule.apply(evidence) for name, rule in rules().items()}
    captured = Captured(
        first_data_s(trial.packets, FLOW),
        _loss_agrees(trial, evidence.loss_s),
        trial.packets_digest,
        contradiction(trial, evidence.exit) if _is_compared(evidence, found.values()) else None,
    )
    return [_row(evidence, name, each, flow, captured) for name, each in found.items()]


def _is_compared(evidence: Evidence, found: Iterable[Judgement]) -> bool:
    """Return whether a rule calls the exit at the chokepoint, or early where slow start does not begin again."""
    classes = {each.exit_class for each in found}
    again = "workload" in evidence.trial.meta or (evidence.exit and evidence.exit.cause in BY_LOSS)
    return ExitClass.CHOKEPOINT in classes or (ExitClass.EARLY in classes and not again)


def _row(evidence: Evidence, rule: str, found: Judgement, flow: FlowJson, captured: Captured) -> Outcome:
    trial, left = evidence.trial, evidence.exit
    return {
        "cca": trial.cca,
        "trial": trial.number,
        "valid": trial.valid,
        "data_s": captured.data_s,
        "heuristic": rule,
        "exit_class": None if captured.contradiction else found.exit_class,
        "capacity_s": found.capacity_s,
        "loss_s": evidence.loss_s,
        "mark_s": evidence.mark_s,
        "exit_s": evidence.exit_s,
        "contradiction": captured.contradiction,
        "exit_cause": left.cause if left else None,
        "exit_bitrate_mbps": evidence.exit_bitrate_mbps,
        "median_mbps": found.median_mbps,
        "min_rtt_ms": evidence.min_rtt_ms,
        "loss_agrees": captured.loss_agrees,
        "throughput_mbps": flow["throughput_mbps"],
        "retransmits_pkts": flow["retransmits_pkts"],
        "packets": captured.packets,
    }


def _loss_agrees(trial: Trial, loss_s: float | None) -> bool | None:
    if trial.packets["sack_edges"].is_null().all():
        return None  # no frame shows the gaps of its client

    def seen_by(drop_s: float) -> float:
        """Return when a queue that is full at a time has drained, and its last frame has crossed."""
        ahead_bytes = trial.link.sent_bytes(np.array([drop_s])) + trial.meta["buffer_bytes"]
        empty_s = float(trial.link.time_of_bytes(ahead_bytes)[0])
        return empty_s + trial.link.base_rtt_ms(empty_s) / 1e3

    end_s = largest(trial.packets["t_s"]) or 0.0
    again_s = smallest(trial.retransmits["t_s"])
    drops = loss.drops_s(trial.packets, trial.qdisc, FLOW)
    return loss.agrees_with_drops(
        loss_s,
        drops,
        seen_by,
        end_s,
        loss.first_hole_s(trial.packets, FLOW) if len(drops) else None,
        made_good=len(trial.meta["flows"]) > 1 or (again_s is not None and again_s < (loss_s or end_s)),
    )
