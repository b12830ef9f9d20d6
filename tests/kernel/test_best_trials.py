# SPDX-License-Identifier: GPL-2.0-or-later
"""BEST in a real download: it ends slow start at the product that pairs of ACKs show, before any loss."""

import polars as pl
import pytest

from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on


def trial_of(bench: Bench) -> Trial:
    return bench.run(experiment_on(SMALL, "best"), "best", "best")


def test_it_leaves_slow_start_by_its_rule_before_any_loss(bench: Bench) -> None:
    trial = trial_of(bench)
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == "best"
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0


def test_it_leaves_within_a_tenth_of_the_bandwidth_delay_product(bench: Bench) -> None:
    """20 Mb/s and 100 ms are 165 packets of 1514 bytes."""
    (row,) = trial_of(bench).exits.to_dicts()
    assert row["ssthresh_pkts"] == pytest.approx(165, rel=0.1)
