# SPDX-License-Identifier: GPL-2.0-or-later
"""C4 in a real download: it leaves its Initial state by its rule, and fills the link."""

import polars as pl
import pytest

from lab.backends.records import TrialError
from tests.conftest import SMALL, Bench, experiment_on


def test_it_leaves_initial_by_its_rule_and_fills_the_link(bench: Bench) -> None:
    trial = bench.run(experiment_on(SMALL, "c4", duration_s=8), "c4", "c4")
    (row,) = trial.exits.to_dicts()
    acks = trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") > 3))
    carried = acks["snd_una_bytes"][-1] - acks["snd_una_bytes"][0]
    assert trial.valid
    assert row["cause"] == "c4"
    assert 8 * carried / (acks["t_s"][-1] - acks["t_s"][0]) > 0.85 * 20e6 * 1448 / 1514


def test_the_kernel_refuses_a_parameter_out_of_range_and_names_it(bench: Bench) -> None:
    experiment = experiment_on(SMALL, "c4")
    experiment.ccas["c4"] = experiment.ccas["c4"].model_copy(update={"params": {"still_eras": 0}})
    with pytest.raises(TrialError, match="tcp_c4: still_eras=0: must be a whole number from 1 to 10"):
        bench.run(experiment, "c4", "wrong-still-eras")
