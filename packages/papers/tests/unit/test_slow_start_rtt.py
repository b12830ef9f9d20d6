# SPDX-License-Identifier: GPL-2.0-or-later
"""Round trips of slow starts, averaged over trials on one clock."""

import polars as pl
import pytest
from lab_papers.evaluation.rtt_cycle import mean_of, of_trials

from lab.judge.ack_stream import ack_stream
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.approved import approved
from tests.stored_run import store_run


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    return Run(store_run(tmp_path_factory.mktemp("rtts"), trials=2, senders=("search", "cubic"))).trials


def averaged(trials: list[Trial], full_s: dict[tuple[str, int], float | None], step_s: float) -> pl.DataFrame:
    return mean_of(of_trials(trials, full_s, step_s), step_s)


def test_the_average_is_the_approved_one(trials: list[Trial]) -> None:
    table = averaged(trials, {(trial.cca, trial.number): None for trial in trials}, 0.1)
    text = table.gather_every(5).with_columns(pl.col(pl.Float64).round_sig_figs(6)).write_csv()
    assert text == approved("slow-start-rtt.csv", text)


def test_the_round_trips_of_slow_starts_are_averaged_where_half_of_the_trials_have_one(trials: list[Trial]) -> None:
    searches = [trial for trial in trials if trial.cca == "search"]
    stream = ack_stream(searches[0].acks)
    t_s = stream["t_us"].to_numpy() / 1e6
    whole_s = {("search", 1): float(t_s[0]) + 1.0, ("search", 2): None}
    alone = averaged(searches, {("search", 1): whole_s["search", 1]}, 0.1)
    assert alone["t_s"].to_list() == pytest.approx([0.1 * step for step in range(alone.height)])
    assert 9 <= alone.height <= 11
    assert alone["rtt_ms"][0] == pytest.approx(stream["rtt_us"][0] / 1e3)
    assert alone["trials"].unique().to_list() == [1]
    both = averaged(searches, whole_s, 0.1)
    assert both["trials"].to_list() == [2] * alone.height + [1] * (both.height - alone.height)
    other = averaged(searches, {("search", 2): None}, 0.1)
    mean = (alone["rtt_ms"] + other["rtt_ms"].head(alone.height)) / 2
    assert both["rtt_ms"].head(alone.height).to_list() == pytest.approx(mean.to_list())
    assert both["rtt_ms"].tail(-alone.height).to_list() == other["rtt_ms"].tail(-alone.height).to_list()


def test_a_step_that_fewer_than_half_of_the_trials_have_is_left_out(trials: list[Trial]) -> None:
    first_s = {trial.path.name: ack_stream(trial.acks)["t_us"][0] / 1e6 for trial in trials}
    short = {
        (trial.cca, trial.number): first_s[trial.path.name] + (2.0 if (trial.cca, trial.number) == ("cubic", 1) else 1)
        for trial in trials[:3]
    }
    table = averaged(trials, {**short, ("cubic", 1): None}, 0.1)
    assert table["trials"].min() == 2 or table["t_s"].max() <= 1.01  # type: ignore[operator]


def test_a_trial_whose_slow_start_had_one_ack_adds_no_round_trips_and_none_no_average(trials: list[Trial]) -> None:
    searches = [trial for trial in trials if trial.cca == "search"]
    first_s = ack_stream(searches[0].acks)["t_us"][0] / 1e6
    alone = averaged(searches, {("search", 2): None}, 0.1)
    both = averaged(searches, {("search", 1): first_s, ("search", 2): None}, 0.1)
    assert both.equals(alone)
    assert averaged(trials, {}, 0.1).is_empty()
