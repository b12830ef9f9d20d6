# SPDX-License-Identifier: GPL-2.0-or-later
"""SUSS in a real download: four times a round trip while the trains of ACKs are short, then HyStart's exit."""

import polars as pl
import pytest

from lab.backends.records import TrialError
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on


def trial_of(bench: Bench, **params: int) -> Trial:
    experiment = experiment_on(SMALL, "suss")
    experiment.ccas["suss"] = experiment.ccas["suss"].model_copy(update={"params": params})
    return bench.run(experiment, "suss", "-".join(["suss", *(f"{name}-{value}" for name, value in params.items())]))


def windows_of_rounds(trial: Trial) -> list[int]:
    """The window at the end of each round, before the exit."""
    acks = trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") < trial.exits["t_s"][0]))
    ends, window_end = [], acks["snd_nxt_bytes"][0]
    for una, nxt, cwnd in acks.select("snd_una_bytes", "snd_nxt_bytes", "cwnd_pkts").iter_rows():
        if una >= window_end:
            ends.append(cwnd)
            window_end = nxt
    return ends


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


@pytest.mark.parametrize(("name", "value", "most"), [("k_max", 4, 3), ("least_rtt_us", 1000001, 1000000)])
def test_the_kernel_refuses_a_parameter_out_of_range_and_names_it(
    bench: Bench, name: str, value: int, most: int
) -> None:
    with pytest.raises(TrialError, match=f"tcp_suss: {name}={value}: must be a whole number from 0 to {most}"):
        trial_of(bench, **{name: value})
