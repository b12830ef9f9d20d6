# SPDX-License-Identifier: GPL-2.0-or-later
"""Two downloads that compete: throughput, round trip, retransmissions and fairness, trial by trial."""

from copy import copy
from typing import Any

import polars as pl

from lab.judge.stored import Stored
from lab.tables.stored_trial import Trial

FIRST_S = 10.0  # of the start-up that the slides look at
SCHEMA: dict[str, Any] = {
    "scenario": pl.String,
    "pairing": pl.String,
    "trial": pl.Int64,
    "flow": pl.Int64,
    "cca": pl.String,
    "throughput_mbps": pl.Float64,
    "startup_mbps": pl.Float64,
    "rtt_ms": pl.Float64,
    "retransmits_pkts": pl.Int64,
    "jain": pl.Float64,
    "throughput_ratio": pl.Float64,
    "rtt_ratio": pl.Float64,
    "retransmits_ratio": pl.Float64,
}


def flows(stored: Stored) -> pl.DataFrame:
    """Return two rows per valid trial of a scenario with a rival; none of others."""
    if not stored.run.meta["scenario"].get("rival"):
        return pl.DataFrame(schema=SCHEMA)
    whole = set(stored.judged.trials.filter("valid").select("cca", "trial").iter_rows())
    trials = [trial for trial in stored.run.trials if (trial.cca, trial.number) in whole]
    rows = [row for trial in trials for row in _rows(stored.name, copy(trial))]
    return pl.DataFrame(rows, schema=SCHEMA)


def _rows(scenario: str, trial: Trial) -> list[dict[str, Any]]:
    told = trial.meta["flows"]
    seen = [{**_seen(trial.acks, flow["flow"]), **flow} for flow in told]
    first, rival = seen
    rates = [flow["throughput_mbps"] for flow in told]
    common = {
        "scenario": scenario,
        "pairing": f"{first['cca']} against {rival['cca']}",
        "trial": trial.number,
        "jain": jain(rates),
        **{f"{name}_ratio": _ratio(rival[of], first[of]) for name, of in RATIOS.items()},
    }
    return [common | {name: flow[name] for name in SCHEMA if name in flow} for flow in seen]


RATIOS = {"throughput": "throughput_mbps", "rtt": "rtt_ms", "retransmits": "retransmits_pkts"}


def _seen(acks: pl.DataFrame, number: int) -> dict[str, Any]:
    """What the sender's kernel saw of a flow: its mean smoothed round trip, and what its first seconds delivered."""
    own = acks.filter(pl.col("flow") == number)
    early = own.filter(pl.col("t_s") <= FIRST_S)
    delivered = (
        early.select(pl.col("snd_una_bytes").max() - pl.col("snd_una_bytes").min()).item() if early.height else None
    )
    return {
        "rtt_ms": own.select(pl.col("srtt_ms").mean()).item(),
        "startup_mbps": None if delivered is None else delivered * 8 / 1e6 / FIRST_S,
    }


def jain(rates: list[float]) -> float | None:
    """Jain's index of fairness: 1 where all get the same, 1/n where one gets all."""
    squares = sum(rate**2 for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None


def _ratio(rival: float | None, first: float | None) -> float | None:
    return None if rival is None or not first else rival / first
