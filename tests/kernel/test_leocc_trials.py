# SPDX-License-Identifier: GPL-2.0-or-later
"""LeoCC in a real download: BBR's Startup, and a new model of the path where a reconfiguration is due."""

import polars as pl

from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

OFFSET_S = 4  # after Startup and before the first ProbeRTT


def trial_of(bench: Bench, **params: int) -> Trial:
    experiment = experiment_on(SMALL, "leocc", duration_s=6)
    experiment.ccas["leocc"] = experiment.ccas["leocc"].model_copy(update={"params": params})
    return bench.run(experiment, "leocc", "-".join(["leocc", *params]))


def most_in_flight_pkts(trial: Trial) -> int:
    """In the second after the reconfiguration."""
    acks = trial.acks.filter((pl.col("flow") == 1) & pl.col("t_s").is_between(OFFSET_S, OFFSET_S + 1))
    return int(((acks["snd_nxt_bytes"] - acks["snd_una_bytes"]) / 1448).max())  # type: ignore[arg-type]


def test_it_leaves_startup_by_bbrs_rule_before_any_loss(bench: Bench) -> None:
    trial = trial_of(bench, offset_ms=1000 * OFFSET_S)
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == "bbr"
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0


def test_after_a_reconfiguration_it_probes_for_bandwidth(bench: Bench) -> None:
    """The product is 165 packets; a probe has a quarter more in flight."""
    assert most_in_flight_pkts(trial_of(bench, offset_ms=1000 * OFFSET_S)) > 1.15 * 165
