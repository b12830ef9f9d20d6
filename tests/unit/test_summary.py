# SPDX-License-Identifier: GPL-2.0-or-later
"""The summary of a run: what counts as a trial, in which share, and on which clock."""

import polars as pl
import pytest

from lab.base.stats import wilson_pct
from lab.judge import digest
from lab.judge.outcome import SCHEMA
from lab.judge.rate_rule import first_reached_s
from lab.judge.registry import rules
from lab.judge.rule import Evidence
from lab.judge.slow_start import first_exit
from lab.judge.summary import summarise
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.slow_start_model import PACKETS, packet
from tests.stored_run import store_run


def outcome(trial: int, exit_class: str | None, exit_s: float | None, **changes: object) -> dict[str, object]:
    row = {"cca": "search", "trial": trial, "valid": True, "heuristic": "truth", "data_s": 1.0, "throughput_mbps": 5.0}
    return dict.fromkeys(SCHEMA) | row | {"exit_class": exit_class, "exit_s": exit_s} | changes


ROWS = [
    outcome(1, "early", 2.0, capacity_s=3.0),
    outcome(2, "early", 4.0, capacity_s=5.0, loss_s=9.0),
    outcome(3, "late", 6.0, capacity_s=4.0, loss_s=5.0, throughput_mbps=8.0),
    outcome(4, None, None),
    outcome(5, "chokepoint", 100.0, valid=False, capacity_s=100.0),
    outcome(6, "chokepoint", 100.0, cca="cubic"),
    outcome(7, "chokepoint", 100.0, heuristic="latency_offset"),
]


@pytest.fixture(scope="module")
def row() -> dict[str, object]:
    summary = summarise(pl.DataFrame(ROWS, schema=SCHEMA, orient="row"), ["search"])
    assert summary["heuristic"].to_list() == list(rules())
    return summary.row(by_predicate=pl.col("heuristic") == "truth", named=True)


def test_an_invalid_trial_counts_nowhere_else_and_shares_have_wilsons_interval(row: dict[str, object]) -> None:
    assert (row["trials"], row["valid"], row["judged"]) == (5, 4, 3)
    assert (row["exit_trials"], row["capacity_trials"], row["loss_trials"]) == (3, 3, 2)
    assert row["chokepoint_pct"] == 0
    assert row["early_pct"] == pytest.approx(200 / 3)
    assert (row["early_lo_pct"], row["early_hi_pct"]) == pytest.approx((20.765, 93.851), abs=0.01)
    assert (row["late_lo_pct"], row["late_hi_pct"]) == pytest.approx(wilson_pct(1, 3))
    assert row["chokepoint_lo_pct"] == pytest.approx(0)


def test_means_are_over_the_trials_with_the_event_from_the_syn_and_from_the_first_data(row: dict[str, object]) -> None:
    assert (row["exit_s"], row["exit_s_sd"]) == pytest.approx((4, 2))
    assert (row["loss_s"], row["capacity_s"]) == pytest.approx((7, 4))
    assert (row["throughput_mbps"], row["throughput_mbps_sd"]) == pytest.approx((5.75, 1.5))
    assert (row["data_s"], row["exit_from_data_s"], row["exit_from_data_s_sd"]) == pytest.approx((1, 3, 2))
    assert (row["loss_from_data_s"], row["capacity_from_data_s"]) == pytest.approx((6, 3))


@pytest.mark.parametrize(("known", "mean"), [((0, 4, 8), 4.0), ((0, None, 8), None), ((0, None, None), None)])
def test_retransmissions_have_a_mean_where_those_of_each_trial_are_known(
    known: tuple[int | None, ...], mean: float | None
) -> None:
    rows = [outcome(number, "late", 1.0, retransmits_pkts=pkts) for number, pkts in enumerate(known, 1)]
    found = summarise(pl.DataFrame(rows, schema=SCHEMA, orient="row"), ["search"])
    assert found.filter(heuristic="truth")["retransmits_pkts"].to_list() == [mean]


def test_without_trials_every_value_is_null_and_every_count_0() -> None:
    empty = summarise(pl.DataFrame(schema=SCHEMA), ["bbr"]).row(0, named=True)
    assert (empty["cca"], empty["trials"], empty["valid"], empty["judged"], empty["exit_trials"]) == ("bbr", 0, 0, 0, 0)
    assert (empty["early_pct"], empty["early_lo_pct"], empty["exit_s"], empty["exit_s_sd"]) == (None, None, None, None)


# ---- what a rule finds in a whole trial


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> list[Trial]:
    return Run(store_run(tmp_path_factory.mktemp("rules"), trials=2, senders=("search", "cubic"))).trials


def evidence(trial: Trial) -> Evidence:
    return Evidence(trial, first_exit(trial.exits, 1), None)


@pytest.mark.parametrize("name", [name for name, rule in rules().items() if rule.constants])
def test_a_rule_with_its_published_constants_finds_what_it_finds_without(trials: list[Trial], name: str) -> None:
    rule = rules()[name]
    assert rule.constants
    for trial in trials:
        (found,) = rule.constants.judge(evidence(trial), (rule.constants.published,))
        assert found.capacity_s == rule.judge(evidence(trial)).capacity_s
    assert len(rule.constants.published) == len(rule.constants.labels)
    assert all(len(point) == len(rule.constants.labels) for point in rule.constants.grid)


@pytest.mark.parametrize("name", [name for name, rule in rules().items() if rule.rate_mbps])
def test_a_rule_by_rate_dates_the_capacity_by_the_window_that_makes_its_rate(trials: list[Trial], name: str) -> None:
    rule = rules()[name]
    assert rule.rate_mbps
    for trial in trials:
        seen = evidence(trial)
        found = rule.apply(seen)
        rate_mbps = rule.rate_mbps(seen.throughput, seen.exit_s)
        assert found.median_mbps == rate_mbps
        assert found.capacity_s == first_reached_s(trial.acks, trial.meta["mss_bytes"], rate_mbps)
        assert rate_mbps is not None


# ---- numbers for figures over many trials


def test_a_size_was_downloaded_with_the_first_ack_of_the_client_that_covers_it() -> None:
    size = digest.OBJECT_BYTES
    rows = [
        packet(0.1, True, ack_bytes=10 * size),  # what the server acknowledges is no download
        packet(0.2, False, ack_bytes=size),  # the SYN is one of them
        packet(0.3, False, ack_bytes=size + 1),
        packet(0.4, False, ack_bytes=3 * size + 1),
        packet(0.5, False, ack_bytes=2 * size),  # reordered
        packet(0.6, False, ack_bytes=9 * size) | {"flow": 2},
    ]
    times = digest._download_s(pl.DataFrame(rows, schema=PACKETS, orient="row"))
    assert times[:4] == [0.3, 0.4, 0.4, None]
    assert len(times) == digest.OBJECTS
