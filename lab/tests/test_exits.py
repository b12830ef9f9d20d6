# SPDX-License-Identifier: GPL-2.0-or-later
"""Each flow's first exit from slow start: when, with what window, and why."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lab.store.trial import Trial
from lab.tables.acks import Clock
from lab.tables.exits import BIN_SCHEMA, CAUSES, EXIT_EVENT, EXIT_SCHEMA, bin_table, derived_exits, exit_table
from lab.tests.conftest import SMALL, Bench, experiment_on
from lab.trial import decode

DRAFT = Path(__file__).parent / "data" / "draft"
TABLES = decode(DRAFT, json.loads((DRAFT / "node.json").read_text()), "search")
CLOCK = Clock(0, {40000: 0, 40001: 1})
STATES = pl.DataFrame(schema={"t_s": pl.Float64, "flow": pl.UInt8, "state": pl.String})


def acks(thresholds: list[int | None]) -> pl.DataFrame:
    """ACKs a tenth of a second apart; the socket's threshold as each one finds it."""
    count = len(thresholds)
    return pl.DataFrame(
        {
            "t_s": [number / 10 for number in range(count)],
            "flow": [1] * count,
            "cwnd_pkts": [10 + number for number in range(count)],
            "ssthresh_pkts": thresholds,
            "srtt_ms": [100.0 + number for number in range(count)],
        },
        schema_overrides={"flow": pl.UInt8, "ssthresh_pkts": pl.UInt32, "cwnd_pkts": pl.UInt32},
    )


def states(at_s: float, state: str) -> pl.DataFrame:
    return pl.DataFrame({"t_s": [at_s], "flow": [1], "state": [state]}, schema_overrides={"flow": pl.UInt8})


def test_the_exit_belongs_to_the_ack_before_the_one_that_finds_a_threshold() -> None:
    found = exit_table({}, CLOCK, acks([None, None, 12, 12]), STATES, "hystart")
    assert found.to_dicts() == [
        {"t_s": 0.1, "flow": 1, "cwnd_pkts": 11, "ssthresh_pkts": 12, "rtt_ms": 101.0, "cause": "hystart"}
    ]


@pytest.mark.parametrize(
    ("state", "at_s", "cause"),
    [
        ("recovery", 0.15, "loss"),
        ("loss", 0.15, "loss"),
        ("recovery", 0.5, "hystart"),
        ("disorder", 0.1, "hystart"),
        ("open", 0.0, "hystart"),
    ],
)
def test_a_repaired_loss_is_the_cause_when_it_came_first(state: str, at_s: float, cause: str) -> None:
    found = exit_table({}, CLOCK, acks([None, None, 12]), states(at_s, state), "hystart")
    assert found["cause"].to_list() == [cause]


def test_a_flow_that_never_leaves_slow_start_has_no_row() -> None:
    found = exit_table({}, CLOCK, acks([None, None, None]), STATES, "hystart")
    assert found.is_empty()
    assert found.schema == pl.Schema(EXIT_SCHEMA)


def told(*exits: tuple[float, str], dport: int = 40001) -> dict[str, np.ndarray]:
    """What a sender's module tells: (time, cause) of each exit."""
    kind = [("t_ns", "<i8"), ("dport", "<u2"), ("cwnd_pkts", "<u4"), ("ssthresh_pkts", "<u4"), ("rtt_us", "<u4")]
    rows = [(round(t_s * 1e9), dport, 77, 66, 123_000, CAUSES.index(cause)) for t_s, cause in exits]
    return {EXIT_EVENT: np.array(rows, dtype=[*kind, ("cause", "u1")])}


def test_a_sender_that_tells_its_exit_is_believed() -> None:
    found = exit_table(told((0.15, "search")), CLOCK, acks([None, None, 66]), STATES, "search")
    assert found.to_dicts() == [
        {"t_s": 0.15, "flow": 1, "cwnd_pkts": 77, "ssthresh_pkts": 66, "rtt_ms": 123.0, "cause": "search"}
    ]


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_its_name(cause: str) -> None:
    assert exit_table(told((0.15, cause)), CLOCK, acks([]), STATES, "search")["cause"].to_list() == [cause]


def test_the_first_exit_told_is_the_exit() -> None:
    found = exit_table(told((0.15, "loss"), (0.9, "search")), CLOCK, acks([None, None, 66]), STATES, "search")
    assert found["cause"].to_list() == ["loss"]


def test_a_sender_that_tells_exits_and_told_none_stayed_in_slow_start() -> None:
    found = exit_table(told(), CLOCK, acks([None, None]), STATES, "search")
    assert found.is_empty()
    assert found.schema == pl.Schema(EXIT_SCHEMA)


def test_an_exit_of_the_control_connection_is_none_of_the_flows() -> None:
    assert exit_table(told((0.15, "loss"), dport=40000), CLOCK, acks([None]), STATES, "search").is_empty()


def test_an_exit_before_any_round_trip_was_measured_has_no_rtt() -> None:
    exits = told((0.15, "timeout"))
    exits[EXIT_EVENT]["rtt_us"] = 0
    assert exit_table(exits, CLOCK, acks([None]), STATES, "search")["rtt_ms"].to_list() == [None]


@pytest.mark.parametrize("cca", ["cubic_plain", "search"])
def test_what_a_module_tells_is_what_tcp_probe_shows(bench: Bench, cca: str) -> None:
    trial = bench.run(experiment_on(SMALL, cca), cca, "small")
    (seen,) = derived_exits(trial.acks, trial.ca_states, cca).to_dicts()
    (row,) = trial.exits.to_dicts()
    assert (row["cause"], row["ssthresh_pkts"]) == (seen["cause"], seen["ssthresh_pkts"])
    assert seen["t_s"] <= row["t_s"] < seen["t_s"] + 0.001  # a microsecond or less, in virtual time
    assert seen["cwnd_pkts"] <= row["cwnd_pkts"] <= seen["cwnd_pkts"] + 2


def test_bins_of_a_real_search_download_follow_each_other() -> None:
    bins = TABLES["bins"]
    assert bins.schema == pl.Schema(BIN_SCHEMA)
    assert bins.height == 11
    assert (bins["bin"].diff().drop_nulls() > 0).all()
    assert bins["bin_ms"].unique().len() == 1
    assert bins["bin_ms"][0] == pytest.approx(0.35 * 100, rel=0.02)  # 3.5 initial round trips in 10 bins
    assert bins["norm_pct"].null_count() == bins["curr_delv_bytes"].null_count()
    assert not bins["exit"].any()


def test_a_real_download_that_lost_early_left_slow_start_by_loss() -> None:
    assert TABLES["exits"]["cause"].to_list() == ["loss"]


def test_other_senders_have_no_bins(small_trial: Trial) -> None:
    assert small_trial.bins.is_empty()
    assert small_trial.bins.schema == pl.Schema(BIN_SCHEMA)
    assert bin_table({}, CLOCK).is_empty()


def test_a_real_download_without_hystart_leaves_by_loss_once_the_buffer_is_full(small_trial: Trial) -> None:
    (row,) = small_trial.exits.to_dicts()
    first_drop_s = small_trial.qdisc.filter(pl.col("drops_pkts") > 0)["t_s"][0]
    assert row["cause"] == "loss"
    assert first_drop_s < row["t_s"] < first_drop_s + 0.5
