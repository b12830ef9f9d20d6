# SPDX-License-Identifier: GPL-2.0-or-later
"""Each flow's first exit from slow start: when, with what window, and why."""

import polars as pl

from lab.tables.columns import schema
from lab.tables.exits import BINS, bin_table
from lab.tables.stored_trial import Trial
from tests.unit.test_exits import CLOCK


def test_a_download_without_hystart_leaves_by_loss_once_the_buffer_is_full_and_has_no_bins(small_trial: Trial) -> None:
    (row,) = small_trial.exits.to_dicts()
    first_drop_s = small_trial.qdisc.filter(pl.col("drops_pkts") > 0)["t_s"][0]
    assert row["cause"] == "loss"
    assert first_drop_s < row["t_s"] < first_drop_s + 0.5
    assert small_trial.bins.is_empty()
    assert small_trial.bins.schema == schema(BINS)
    assert bin_table({}, CLOCK).is_empty()
