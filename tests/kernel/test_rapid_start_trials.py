# SPDX-License-Identifier: GPL-2.0-or-later
"""Rapid Start in real downloads: the first flight, three times a round trip, its recovery period, then CUBIC."""

from itertools import pairwise

import polars as pl
import pytest

from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.rounds import windows_of_rounds

SHALLOW = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 100_000})})


def trial_of(bench: Bench, name: str = "rapid") -> Trial:
    return bench.run(experiment_on(SHALLOW if name == "shallow" else SMALL, "rapid_start"), "rapid_start", name)


def test_the_first_flight_is_twenty_packets_over_a_whole_round_trip(bench: Bench) -> None:
    sent = trial_of(bench).packets.filter((pl.col("flow") == 1) & pl.col("to_client") & (pl.col("len_bytes") > 0))
    first_s = sent["t_s"][0]
    flight = sent.filter(pl.col("t_s") < first_s + 0.1)  # SMALL's round trip, and the handshake's sample of it
    gaps_s = flight["t_s"].diff().drop_nulls()
    assert len(flight) in (19, 20, 21)
    assert max(gaps_s) < 3 * 0.1 / 20  # fq sends two at a time


def test_the_window_triples_each_round_trip_until_a_queue_builds(bench: Bench) -> None:
    ends = windows_of_rounds(trial_of(bench))
    assert ends[1:5] == [20, 60, 180, 540]
    assert all(later <= 3 * earlier for earlier, later in pairwise(ends[1:]))


def test_the_exit_is_by_loss_and_the_threshold_is_cubics(bench: Bench) -> None:
    (row,) = trial_of(bench).exits.to_dicts()
    assert row["cause"] == "loss"
    assert row["ssthresh_pkts"] == pytest.approx(0.7 * row["cwnd_pkts"], rel=0.01)


@pytest.mark.parametrize("name", ["rapid", "shallow"])
def test_after_the_period_the_window_is_between_its_bounds_and_cubic_grows_it(bench: Bench, name: str) -> None:
    trial = trial_of(bench, name)
    (row,) = trial.exits.to_dicts()
    after = trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") > row["t_s"]))
    least, last = int(after["cwnd_pkts"].min()), int(after["cwnd_pkts"][-1])  # type: ignore[arg-type]
    assert 7 * row["cwnd_pkts"] // 30 <= least <= 7 * row["cwnd_pkts"] // 10
    assert last > least
