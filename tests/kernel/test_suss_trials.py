# SPDX-License-Identifier: GPL-2.0-or-later
"""SUSS in a real download: four times a round trip while the trains of ACKs are short, then HyStart's exit."""

import polars as pl

from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.rounds import windows_of_rounds


def trial_of(bench: Bench, **params: int) -> Trial:
    experiment = experiment_on(SMALL, "suss")
    experiment.ccas["suss"] = experiment.ccas["suss"].model_copy(update={"params": params})
    return bench.run(experiment, "suss", "-".join(["suss", *(f"{name}-{value}" for name, value in params.items())]))


def test_a_round_grows_four_times_while_its_train_is_short_then_twice(bench: Bench) -> None:
    """A packet lasts 0.6 ms: 40 of them less than a quarter of 100 ms, 160 more than half."""
    trial = trial_of(bench)
    assert windows_of_rounds(trial)[1:4] == [10, 40, 160]
    assert 160 < trial.exits["cwnd_pkts"][0] <= 320


def test_without_it_the_window_doubles(bench: Bench) -> None:
    assert windows_of_rounds(trial_of(bench, k_max=0))[1:4] == [10, 20, 40]


def test_hystart_ends_slow_start_before_any_loss(bench: Bench) -> None:
    trial = trial_of(bench)
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == "hystart"
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0
