# SPDX-License-Identifier: GPL-2.0-or-later
"""Downloads that compete: throughput, round trip, retransmissions and fairness, trial by trial."""

from copy import copy
from typing import cast

import polars as pl

from lab.evaluation.shares import jain
from lab.judge.copies import distinct
from lab.judge.frames import Cell, Row
from lab.judge.stored import Stored
from lab.tables.columns import schema
from lab.tables.records import beside
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import FlowJson
from lab_papers.evaluation.columns import FLOWS

FIRST_S = 10.0  # of the start-up that the slides look at
SCHEMA = schema(FLOWS)


def flows(stored: Stored) -> pl.DataFrame:
    """Return one row per download and valid trial of a scenario with rivals; none of others."""
    others = beside(stored.run.scenario)
    if not others:
        return pl.DataFrame(schema=SCHEMA)
    whole = set(distinct(stored.judged.trials).select("cca", "trial").iter_rows())
    trials = [trial for trial in stored.run.trials if (trial.cca, trial.number) in whole]
    rows = [row for trial in trials for row in _rows(stored.name, others, copy(trial))]
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(scenario: str, others: str, trial: Trial) -> list[Row]:
    flows_meta = trial.meta["flows"]
    flows_seen = [{**cast("Row", flow), **_rates(trial.acks, flow)} for flow in flows_meta]
    first, *rivals = flows_seen
    rival: Row = rivals[0] if len(rivals) == 1 else {}  # of many there is no ratio
    rates = [flow["throughput_mbps"] for flow in flows_meta if flow["seconds"]]
    common = {
        "scenario": scenario,
        "pairing": f"{first['cca']} against {others}",
        "trial": trial.number,
        "jain": jain(rates) if len(rates) == len(flows_meta) else None,
        **{f"{name}_ratio": _ratio(rival.get(of), first[of]) for name, of in RATIOS.items()},
    }
    return [common | {name: flow[name] for name in SCHEMA if name in flow} for flow in flows_seen]


RATIOS = {
    "throughput": "throughput_mbps",
    "rtt": "rtt_ms",
    "retransmits": "retransmits_pkts",
    "startup": "startup_mbps",
}


def _rates(acks: pl.DataFrame, flow: FlowJson) -> dict[str, float | None]:
    """Return a flow's rate, null of no time; and of its sender's kernel the mean round trip and the rate at first."""
    own, first_s = acks.filter(pl.col("flow") == flow["flow"]), min(FIRST_S, flow["end_s"])
    early = own.filter(pl.col("t_s") <= first_s)
    delivered = early.select(pl.col("snd_una_bytes").max() - pl.col("snd_una_bytes").min()).item()
    return {
        "throughput_mbps": flow["throughput_mbps"] if flow["seconds"] else None,
        "rtt_ms": own.select(pl.col("srtt_ms").mean()).item(),
        "startup_mbps": delivered * 8 / 1e6 / first_s if delivered is not None and first_s > 0 else None,
    }


def _ratio(rival: Cell, first: Cell) -> float | None:
    """Return a ratio of two numbers; null where one is missing."""
    if not isinstance(rival, float | int) or not isinstance(first, float | int) or not first:
        return None
    return rival / first
