# SPDX-License-Identifier: GPL-2.0-or-later
"""The downloads over which SEARCH is replayed, the class of a replayed exit, and the maps of its parameters."""

from copy import copy
from typing import cast

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.claims.estimate import Estimate
from lab_papers.evaluation.claims.measured import Measured
from lab_papers.evaluation.recorded.rate import LAGS_S, Rate
from lab_papers.evaluation.recorded.tables import _rate_cells, _rate_row
from lab_papers.evaluation.search import sensitivity
from lab_papers.evaluation.search.replay import BASE, Download, class_of, download, downloads, varied
from lab_papers.fullest import stored
from lab_papers.search_replay import SearchParams

from lab.base.stats import wilson_pct
from lab.judge.ack_stream import ack_stream
from lab.judge.median_throughput import throughput
from lab.judge.outcome import Outcome
from lab.judge.registry import rule_of, rules
from lab.judge.slow_start import SlowStartExit
from lab.judge.stored import Stored
from lab.tables.records import ClaimRecord
from tests.stored_run import store_run

EMPTY = np.array([], dtype=np.int64)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    results = tmp_path_factory.mktemp("results")
    store_run(results, trials=2, senders=("search", BASE), latest=True)
    return stored(results)[0][0]


def left(t_s: float, cause: str = "search", cwnd_pkts: int = 100, rtt_ms: float = 100.0) -> SlowStartExit:
    return SlowStartExit(t_s, cwnd_pkts, rtt_ms, cause)


def one(
    heuristic_s: float | None = 2.0,
    truth_s: float | None = 3.0,
    loss_s: float | None = 5.0,
    rates: pl.DataFrame | None = None,
    rule: str = "latency_offset",
) -> Download:
    times = {"heuristic": heuristic_s, "truth": truth_s}
    return Download(
        7, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, None, loss_s, 0.5, times, rates, 1448, rules()[rule].rate_mbps
    )


def test_they_are_those_of_the_sender_that_only_a_loss_ends(run: Stored) -> None:
    found = [*downloads(run)]
    assert [each.trial for each in found] == [1, 2]
    assert {each.rate_mbps for each in found} == {rules()[rule_of(run.run.scenario)].rate_mbps}


def test_a_download_ends_with_its_own_slow_start_and_has_what_was_sent_and_the_window_at_each_ack(run: Stored) -> None:
    for each in downloads(run):
        acks = next(trial for trial in run.run.trials if (trial.cca, trial.number) == (BASE, each.trial)).acks
        assert each.own is not None
        assert 0 < len(each.t_us) == len(each.rtt_us) == len(each.delivered_bytes) == len(each.sent_bytes)
        assert each.t_us[-1] <= each.own.t_s * 1e6 < acks["t_s"].max() * 1e6  # type: ignore[operator]
        at = {round(row["t_s"] * 1e6): row for row in acks.iter_rows(named=True)}  # the last row of each time
        assert each.sent_bytes.tolist() == [at[t_us]["snd_nxt_bytes"] for t_us in each.t_us.tolist()]
        assert each.cwnd_pkts.tolist() == [at[t_us]["cwnd_pkts"] for t_us in each.t_us.tolist()]


def test_a_download_has_the_outcomes_of_its_rule_and_of_the_truth(run: Stored) -> None:
    rows = run.judged.outcomes.filter(cca=BASE)
    rule = rule_of(run.run.scenario)
    for each in downloads(run):
        by_rule, truth = (rows.filter(trial=each.trial, heuristic=name).row(0, named=True) for name in (rule, "truth"))
        assert each.capacity_s == {"heuristic": by_rule["capacity_s"], "truth": truth["capacity_s"]}
        assert (each.loss_s, each.data_s, each.mss_bytes) == (by_rule["loss_s"], by_rule["data_s"], 1448)
        assert each.rates is None  # the rule of this scenario compares no rates


def test_by_a_rule_of_rates_a_download_has_its_throughput(run: Stored) -> None:
    rows = run.judged.outcomes.filter(cca=BASE, trial=1)
    by_rule, truth = (
        cast("Outcome", rows.row(by_predicate=pl.col("heuristic") == name, named=True))
        for name in ("median_throughput_after", "truth")
    )
    trial = next(trial for trial in run.run.trials if (trial.cca, trial.number) == (BASE, 1))
    found = download(copy(trial), "median_throughput_after", by_rule, truth)
    assert found.rates is not None
    assert found.rates.equals(throughput(copy(trial).packets))
    assert found.rates["throughput_mbps"].max() == pytest.approx(8, rel=0.1)  # the link's own rate


def test_a_download_that_never_left_slow_start_is_replayed_to_its_end(run: Stored) -> None:
    rows = run.judged.outcomes.filter(cca=BASE, trial=1, heuristic="truth")
    truth = cast("Outcome", rows.row(0, named=True))
    trial = copy(next(trial for trial in run.run.trials if (trial.cca, trial.number) == (BASE, 1)))
    trial.__dict__["exits"] = trial.exits.clear()
    found = download(trial, "latency_offset", truth, truth)
    assert found.own is None
    assert len(found.t_us) == ack_stream(trial.acks).height


@pytest.mark.parametrize(
    ("judge", "t_s", "expected"),
    [
        ("heuristic", 1.9, "early"),
        ("heuristic", 2.0, "chokepoint"),
        ("truth", 2.9, "early"),
        ("truth", 3.0, "chokepoint"),
        ("truth", 5.0, "late"),
    ],
)
def test_an_exit_is_judged_by_the_capacity_of_its_judge(judge: str, t_s: float, expected: str) -> None:
    assert class_of(one(), left(t_s), judge) == expected


def test_without_a_capacity_or_an_exit_there_is_no_class() -> None:
    assert class_of(one(truth_s=None), left(9.0), "truth") is None
    assert class_of(one(), None, "truth") is None


@pytest.mark.parametrize(("cwnd_pkts", "expected"), [(100, "early"), (400, "chokepoint")])
def test_by_a_rule_of_rates_the_window_of_the_exit_is_compared(cwnd_pkts: int, expected: str) -> None:
    """400 segments of 1,448 bytes in 100 ms make 46 Mb/s, 100 of them 12 Mb/s."""
    rates = pl.DataFrame({"begin_s": [0.0, 1.0, 2.0], "end_s": [0.015, 1.015, 2.015], "throughput_mbps": [1.0, 20, 20]})
    download = one(heuristic_s=None, rates=rates, rule="median_throughput_after")
    assert class_of(download, left(1.0, cwnd_pkts=cwnd_pkts), "heuristic") == expected
    assert class_of(download, None, "heuristic") is None
    assert class_of(download, left(1.0, cwnd_pkts=cwnd_pkts), "truth") == "early"


def test_each_map_varies_its_own_parameters_and_no_other() -> None:
    published = SearchParams()
    points = list(sensitivity.points(published))
    both = [params for name, params, _ in points if name == "window-threshold"]
    assert {varied(params, window_factor_tenths=35, threshold_pct=35).params for params in both} == {published}
    assert {params.window_factor_tenths for params in both} == set(sensitivity.WINDOWS_TENTHS)
    assert {params.threshold_pct for params in both} == set(sensitivity.THRESHOLDS_PCT)
    assert len(both) == len(set(both)) == len(sensitivity.WINDOWS_TENTHS) * len(sensitivity.THRESHOLDS_PCT)
    bins = [params for name, params, _ in points if name == "bins"]
    assert bins == [varied(published, bins=count).params for count in sensitivity.BINS]
    extra = [(params.extra_bins, compares) for name, params, compares in points if name == "extra-bins"]
    assert extra[:2] == [(1, False), (1, True)]  # without extra bins the core never compares
    assert extra[1:] == [(count, True) for count in sensitivity.EXTRA_BINS[1:]]
    assert all(compares for name, _, compares in points if name != "extra-bins")


def test_a_point_has_its_parameters_in_the_units_of_the_maps() -> None:
    params = SearchParams(window_factor_tenths=35, threshold_pct=26, bins=10, extra_bins=15)
    row = sensitivity._parameters(params, True)
    assert row == {"window_rtts": 3.5, "threshold": 0.26, "bins": 10, "extra_bins": 15}
    assert sensitivity._parameters(params, False) == {**row, "extra_bins": 0}


def test_a_point_has_the_shares_of_judged_exits_and_how_many_searches_never_left() -> None:
    exits = [left(1.0), left(4.0), left(4.5), left(6.0, "loss"), None]
    row = sensitivity._judged([one() for _ in exits], exits, "truth")
    assert (row["judge"], row["downloads"], row["trials"]) == ("truth", 5, 4)
    assert (row["early_pct"], row["chokepoint_pct"], row["late_pct"]) == (25, 50, 25)
    assert (row["chokepoint_lo_pct"], row["chokepoint_hi_pct"]) == pytest.approx(wilson_pct(2, 4))
    assert row["never_pct"] == 40
    assert row["exit_s"] == pytest.approx((1 + 4 + 4.5) / 3)


def test_a_row_of_a_version_has_its_exit_and_what_its_judge_compared_it_with() -> None:
    row = sensitivity._version("geo", "search2", one(), left(2.5), "truth", 6.5)
    assert row == {
        "scenario": "geo",
        "version": "search2",
        "trial": 7,
        "judge": "truth",
        "exit_s": 2.5,
        "cause": "search",
        "capacity_s": 3.0,
        "loss_s": 5.0,
        "data_s": 0.5,
        "exit_class": "early",
        "bins_error_points": 6.5,
    }
    never = sensitivity._version("geo", "search2", one(), None, "heuristic", None)
    assert (never["exit_s"], never["cause"], never["exit_class"], never["capacity_s"]) == (None, None, None, 2.0)


def claim(**fields: object) -> ClaimRecord:
    row: ClaimRecord = {"source": "thesis", "row": "GEO", "cca": "search", "values": {}, **fields}  # type: ignore[typeddict-item]
    return row


def test_a_claim_about_a_replayed_version_is_estimated_from_that_version_by_the_rule(run: Stored) -> None:
    rows = [
        {"scenario": "geo", "version": "search2", "trial": trial, "judge": judge, "exit_s": exit_s, "data_s": 1.0}
        | {"capacity_s": 1.0, "loss_s": None, "exit_class": "early"}
        for trial, judge, exit_s in [(1, "heuristic", 2.0), (2, "heuristic", 4.0), (1, "truth", 90.0)]
    ]
    others = [rows[0] | {"scenario": "leo"}, rows[0] | {"version": "search31", "exit_s": 70.0}]
    versions = pl.DataFrame([*others, *reversed(rows)], schema_overrides={"loss_s": pl.Float64})
    measured = Measured(run, {"versions": versions})
    by_data = measured.estimate(claim(replayed="search2"), "exit_s", "data")
    assert (by_data.value, by_data.trials) == (2.0, 2)
    assert measured.estimate(claim(replayed="search2"), "exit_s", None).value == 3.0
    assert measured.estimate(claim(replayed="search2"), "early_pct", "data").value == 100
    assert Measured(run, {}).estimate(claim(replayed="search2"), "exit_s", None) == Estimate(None, None, None, 0)


def test_a_claim_about_competing_flows_counts_each_trial_of_its_sender_once(run: Stored) -> None:
    own = [("geo", 1, 1, "search", 0.5), ("geo", 3, 1, "search", 1.5)]
    others = [("geo", 1, 1, "bbr", 7.0), ("geo", 1, 2, "search", 7.0), ("leo", 9, 1, "search", 99.0)]
    columns = ("scenario", "trial", "flow", "cca", "throughput_ratio")
    flows = pl.DataFrame([*others, *own], schema=columns, orient="row")
    found = Measured(run, {"flows": flows}).estimate(claim(), "throughput_ratio", "data")
    assert (found.value, found.trials) == (1.0, 2)


def test_any_other_claim_is_estimated_from_the_valid_trials_of_its_sender(run: Stored) -> None:
    rows = run.judged.outcomes.filter("valid", cca="search", heuristic=rule_of(run.run.scenario))
    found = Measured(run, {}).estimate(claim(), "exit_s", "syn")
    assert found.value == pytest.approx(rows["exit_s"].mean())
    assert found.trials == rows.height
    later = Measured(run, {}).estimate(claim(), "exit_s", "data")
    assert later.value == pytest.approx((rows["exit_s"] - rows["data_s"]).mean())
    assert Measured(run, {}).has_starts() == (rows["data_s"].null_count() < rows.height)


def test_the_rates_of_several_downloads_are_shown_by_their_medians() -> None:
    lags = len(LAGS_S)
    rates = [
        Rate(bins=10, idle=1, mean_mbps=2.0, ln_sd=0.5, correlation=(0.1,) * lags),
        Rate(bins=20, idle=3, mean_mbps=4.0, ln_sd=np.nan, correlation=(np.nan,) * lags),
        Rate(bins=60, idle=2, mean_mbps=9.0, ln_sd=0.75, correlation=(0.3,) * lags),
    ]
    assert _rate_cells(rates) == ["4.00", "0.62", *["0.20"] * lags, "20", "2"]
    assert _rate_cells([rates[1]])[1:3] == ["", ""]
    assert _rate_row("one", None) == ("one", *[""] * (4 + lags))
    assert _rate_row("one", rates[0])[0] == "one"
