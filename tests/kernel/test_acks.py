# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's tracepoints become tables that share clock, flows and sequence numbers with the capture."""

from itertools import pairwise

import polars as pl
import pytest

from lab.tables.stored_trial import Trial


def test_a_real_trials_window_doubles_each_round_trip_until_the_loss(small_trial: Trial) -> None:
    acks = small_trial.acks.filter(pl.col("t_s") < float(small_trial.exits["t_s"][0]))
    at = [int(acks.filter(pl.col("t_s") <= 0.2 + 0.1 * trip)["cwnd_pkts"][-1]) for trip in (1, 2, 3, 4)]
    assert [later / earlier for earlier, later in pairwise(at)] == [pytest.approx(2, rel=0.15)] * 3
