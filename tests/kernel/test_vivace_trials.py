# SPDX-License-Identifier: GPL-2.0-or-later
"""PCC Vivace in a real download: it leaves its start by its rule, and fills most of a link without jitter."""

import polars as pl
import pytest

from lab.backends.records import TrialError
from tests.conftest import SMALL, Bench, experiment_on


def test_it_leaves_its_start_by_its_rule_and_uses_the_link(bench: Bench) -> None:
    trial = bench.run(experiment_on(SMALL, "vivace", duration_s=16), "vivace", "vivace")
    (row,) = trial.exits.to_dicts()
    acks = trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") > 8))
    carried = acks["snd_una_bytes"][-1] - acks["snd_una_bytes"][0]
    assert trial.valid
    assert row["cause"] == "vivace"
    assert 8 * carried / (acks["t_s"][-1] - acks["t_s"][0]) > 0.5 * 20e6 * 1448 / 1514


def test_the_kernel_refuses_a_parameter_out_of_range_and_names_it(bench: Bench) -> None:
    experiment = experiment_on(SMALL, "vivace")
    experiment.ccas["vivace"] = experiment.ccas["vivace"].model_copy(update={"params": {"epsilon_pct": 26}})
    with pytest.raises(TrialError, match="tcp_vivace: epsilon_pct=26: must be a whole number from 1 to 25"):
        bench.run(experiment, "vivace", "wrong-epsilon")
