# SPDX-License-Identifier: GPL-2.0-or-later
"""Copa in a real download: it leaves slow start by its rule, keeps a short queue and fills the link."""

import polars as pl
import pytest

from lab.backends.records import TrialError
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on


def trial_of(bench: Bench) -> Trial:
    return bench.run(experiment_on(SMALL, "copa", duration_s=8), "copa", "copa")


def settled(trial: Trial) -> pl.DataFrame:
    """The ACKs of the last four of eight seconds: the velocity overshoots before."""
    return trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") > 4))


def test_it_leaves_slow_start_by_its_rule_before_any_loss(bench: Bench) -> None:
    trial = trial_of(bench)
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == "copa"
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0


def test_the_queue_stays_short_and_the_link_full(bench: Bench) -> None:
    """The buffer holds 200 ms; two packets of 1448 bytes at 20 Mb/s last 1.2 ms."""
    acks = settled(trial_of(bench))
    assert max(acks["srtt_ms"]) < 100 + 10
    carried = acks["snd_una_bytes"][-1] - acks["snd_una_bytes"][0]
    assert 8 * carried / (acks["t_s"][-1] - acks["t_s"][0]) > 0.85 * 20e6 * 1448 / 1514


@pytest.mark.parametrize(("name", "value", "least", "most"), [("inverse_delta", 0, 1, 64), ("competes", 2, 0, 1)])
def test_the_kernel_refuses_a_parameter_out_of_range_and_names_it(
    bench: Bench, name: str, value: int, least: int, most: int
) -> None:
    experiment = experiment_on(SMALL, "copa")
    experiment.ccas["copa"] = experiment.ccas["copa"].model_copy(update={"params": {name: value}})
    expected = f"tcp_copa: {name}={value}: must be a whole number from {least} to {most}"
    with pytest.raises(TrialError, match=expected):
        bench.run(experiment, "copa", f"wrong-{name}")
