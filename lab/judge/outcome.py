# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of one trial: a row for each heuristic.

The exit, the first loss, throughput and retransmissions are the trial's; capacity and class depend on the
heuristic. A value that does not exist (no exit, capacity never reached, nothing lost) is null.

Every time counts from when the data connection's SYN left the client. Many sources count from the first data segment:
`data_s` is when that arrived at the client, so that a time less `data_s` is on such a source's clock.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from lab.base.stats import largest
from lab.judge import latency_offset, loss, median_throughput, truth, window_rate
from lab.judge.classify import ExitClass, by_bitrate, by_time
from lab.judge.rtt import min_rtt_ms
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.tables.downloads import first_data_s
from lab.tables.stored_trial import Trial

FLOW = 1
HEURISTICS = ("latency_offset", "median_throughput_1s", "median_throughput_after", "truth")
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


@dataclass(frozen=True)
class Judgement:
    """What one heuristic says of a trial; median_mbps only where the heuristic is a rate."""

    capacity_s: float | None
    exit_class: ExitClass | None
    median_mbps: float | None = None


def outcomes(trials: Iterable[Trial]) -> pl.DataFrame:
    """One row per trial and heuristic, trial by trial: only the rows stay in memory."""
    # A trial keeps the tables it has read: each copy takes its own with it.
    rows = [row for trial in trials for row in outcome(copy(trial))]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def outcome(trial: Trial) -> list[dict[str, Any]]:
    """The rows of one trial, in the order of HEURISTICS."""
    seen = _Seen(trial, first_exit(trial.exits, FLOW), loss.first_loss_s(trial.packets, FLOW))
    judged = {"latency_offset": _by_offset(seen), **_by_medians(seen), "truth": _by_queue(seen)}
    common = _common(seen)
    return [common | {"heuristic": name} | vars(judged[name]) for name in HEURISTICS]


@dataclass
class _Seen:
    """What all heuristics look at."""

    trial: Trial
    left: SlowStartExit | None
    loss_s: float | None

    @cached_property
    def min_rtt_ms(self) -> float | None:
        return min_rtt_ms(self.trial.packets, FLOW)

    @property
    def exit_s(self) -> float | None:
        return self.left.t_s if self.left else None

    @property
    def exit_bitrate_mbps(self) -> float | None:
        return self.left.bitrate_mbps(self.trial.meta["mss_bytes"]) if self.left else None


def _common(seen: _Seen) -> dict[str, Any]:
    flow = next(flow for flow in seen.trial.meta["flows"] if flow["flow"] == FLOW)
    return {
        "cca": seen.trial.cca,
        "trial": seen.trial.number,
        "valid": seen.trial.valid,
        "data_s": first_data_s(seen.trial.packets, FLOW),
        "loss_s": seen.loss_s,
        "loss_agrees": _loss_agrees(seen.trial, seen.loss_s),
        "exit_s": seen.exit_s,
        "exit_cause": seen.left.cause if seen.left else None,
        "exit_bitrate_mbps": seen.exit_bitrate_mbps,
        "min_rtt_ms": seen.min_rtt_ms,
        "throughput_mbps": flow["throughput_mbps"],
        "retransmits_pkts": flow["retransmits_pkts"],
    }


def _loss_agrees(trial: Trial, loss_s: float | None) -> bool:
    drain_s = trial.meta["buffer_bytes"] * 8 / (trial.meta["rate_mbps"] * 1e6)
    end_s = largest(trial.packets["t_s"]) or 0.0
    return loss.agrees_with_drops(loss_s, trial.qdisc, trial.meta["base_rtt_ms"], drain_s, end_s)


def _by_offset(seen: _Seen) -> Judgement:
    if seen.min_rtt_ms is None:
        return Judgement(None, None)
    offsets = latency_offset.offsets(seen.trial.packets, FLOW)
    capacity_s = latency_offset.capacity_s(offsets, seen.min_rtt_ms)
    filling = seen.left is not None and latency_offset.filling(offsets, seen.min_rtt_ms, seen.left.t_s)
    return Judgement(capacity_s, by_time(seen.left, capacity_s, seen.loss_s, filling=filling))


def _by_medians(seen: _Seen) -> dict[str, Judgement]:
    throughput = median_throughput.throughput(seen.trial.packets, FLOW)
    medians_mbps = {
        "median_throughput_1s": median_throughput.median_first_second_mbps(throughput),
        "median_throughput_after": median_throughput.median_after_mbps(throughput, seen.exit_s),
    }
    return {name: _by_median(seen, median_mbps) for name, median_mbps in medians_mbps.items()}


def _by_median(seen: _Seen, median_mbps: float | None) -> Judgement:
    reached_s = window_rate.first_reached_s(seen.trial.acks, seen.trial.meta["mss_bytes"], median_mbps, FLOW)
    exit_class = by_bitrate(seen.left, seen.exit_bitrate_mbps, median_mbps, seen.loss_s)
    return Judgement(reached_s, exit_class, median_mbps)


def _by_queue(seen: _Seen) -> Judgement:
    capacity_s = truth.capacity_s(seen.trial.qdisc, seen.trial.link)
    return Judgement(capacity_s, by_time(seen.left, capacity_s, seen.loss_s))
