# SPDX-License-Identifier: GPL-2.0-or-later
"""BBR version 3 in a real download: it leaves Startup by its rule, fills the link and, in ProbeRTT, half of it."""

import polars as pl
import pytest

from lab.backends.records import TrialError
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on


def trial_of(bench: Bench) -> Trial:
    return bench.run(experiment_on(SMALL, "bbr3", duration_s=8), "bbr3", "bbr3")


def test_it_leaves_startup_by_its_rule_before_any_loss(bench: Bench) -> None:
    trial = trial_of(bench)
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == "bbr"
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0


def test_the_link_is_full_and_after_five_seconds_the_window_is_half_of_a_bdp(bench: Bench) -> None:
    """20 Mb/s and 100 ms are 165 packets of 1514 bytes."""
    acks = trial_of(bench).acks.filter((pl.col("flow") == 1) & (pl.col("t_s") > 2))
    carried = acks["snd_una_bytes"][-1] - acks["snd_una_bytes"][0]
    assert 8 * carried / (acks["t_s"][-1] - acks["t_s"][0]) > 0.85 * 20e6 * 1448 / 1514
    assert 75 <= min(acks["cwnd_pkts"]) <= 90


@pytest.mark.parametrize(("name", "value", "least", "most"), [("loss_pct", 0, 1, 50), ("full_rounds", 101, 1, 100)])
def test_the_kernel_refuses_a_parameter_out_of_range_and_names_it(
    bench: Bench, name: str, value: int, least: int, most: int
) -> None:
    experiment = experiment_on(SMALL, "bbr3")
    experiment.ccas["bbr3"] = experiment.ccas["bbr3"].model_copy(update={"params": {name: value}})
    expected = f"tcp_bbr3: {name}={value}: must be a whole number from {least} to {most}"
    with pytest.raises(TrialError, match=expected):
        bench.run(experiment, "bbr3", f"wrong-{name}")
