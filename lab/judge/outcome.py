# SPDX-License-Identifier: GPL-2.0-or-later
"""The outcome of a trial: one row per at-capacity rule.

The exit, the first loss, throughput and retransmissions are the trial's; capacity and class depend on the
rule. A value that does not exist (no exit, capacity never reached, nothing lost) is null.

Every time counts from when the data connection's SYN left the client. Many sources count from the first data segment:
`data_s` is when that arrived at the client, so that a time less `data_s` is on such a source's clock.
"""

from collections.abc import Iterable
from copy import copy
from typing import Any

import polars as pl

from lab.base.stats import largest
from lab.judge import loss
from lab.judge.registry import rules
from lab.judge.rule import Evidence
from lab.judge.slow_start import first_exit
from lab.tables.downloads import FLOW, first_data_s
from lab.tables.stored_trial import Trial

SCHEMA: dict[str, Any] = {
    "cca": pl.String,
    "trial": pl.Int64,
    "valid": pl.Boolean,
    "data_s": pl.Float64,
    "heuristic": pl.String,
    "exit_class": pl.String,
    "capacity_s": pl.Float64,
    "loss_s": pl.Float64,
    "exit_s": pl.Float64,
    "exit_cause": pl.String,
    "exit_bitrate_mbps": pl.Float64,
    "median_mbps": pl.Float64,
    "min_rtt_ms": pl.Float64,
    "loss_agrees": pl.Boolean,
    "throughput_mbps": pl.Float64,
    "retransmits_pkts": pl.Int64,
}


def outcomes(trials: Iterable[Trial]) -> pl.DataFrame:
    """Return one row per trial and rule, trial by trial: only the rows stay in memory."""
    # A trial keeps the tables it has read: each copy takes its own with it.
    rows = [row for trial in trials for row in outcome(copy(trial))]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def outcome(trial: Trial) -> list[dict[str, Any]]:
    """Return the rows of one trial, one per rule in the order of the registry."""
    evidence = Evidence(trial, first_exit(trial.exits, FLOW), loss.first_loss_s(trial.packets, FLOW))
    common = _common(evidence)
    return [common | {"heuristic": name} | vars(rule.apply(evidence)) for name, rule in rules().items()]


def _common(evidence: Evidence) -> dict[str, Any]:
    trial = evidence.trial
    flow: dict[str, Any] = next((flow for flow in trial.meta["flows"] if flow["flow"] == FLOW), {})
    return {
        "cca": trial.cca,
        "trial": trial.number,
        "valid": trial.valid,
        "data_s": first_data_s(trial.packets, FLOW),
        "loss_s": evidence.loss_s,
        "loss_agrees": _loss_agrees(trial, evidence.loss_s),
        "exit_s": evidence.exit_s,
        "exit_cause": evidence.exit.cause if evidence.exit else None,
        "exit_bitrate_mbps": evidence.exit_bitrate_mbps,
        "min_rtt_ms": evidence.min_rtt_ms,
        "throughput_mbps": flow.get("throughput_mbps"),
        "retransmits_pkts": flow.get("retransmits_pkts"),
    }


def _loss_agrees(trial: Trial, loss_s: float | None) -> bool:
    drain_s = trial.meta["buffer_bytes"] * 8 / (trial.meta["rate_mbps"] * 1e6)
    end_s = largest(trial.packets["t_s"]) or 0.0
    return loss.agrees_with_drops(loss_s, trial.qdisc, trial.meta["base_rtt_ms"], drain_s, end_s)
