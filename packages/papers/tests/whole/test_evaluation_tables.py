# SPDX-License-Identifier: GPL-2.0-or-later
"""The evaluation on rows whose answer is known: rules against the truth, pairs of senders, and when one looks."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.stats
from lab_compare.link_kinds import Link
from lab_compare.results import LinkResult, _unranked, digest_of
from lab_papers.evaluation import senders, write
from lab_papers.evaluation.columns import STATUS
from lab_papers.evaluation.competing_flows import flows
from lab_papers.evaluation.rules import constants, scores
from lab_papers.evaluation.search.replay import BASE
from lab_papers.evaluation.senders import cliffs_delta, signed_rank
from lab_papers.evaluation.status import status
from lab_papers.fullest import why_invalid

from lab.base.stats import share_pct, wilson_pct
from lab.evaluation import sequential
from lab.evaluation.measures import Values
from lab.evaluation.sequential import FIRST_SHARE, STEP, Looks, first_look, looks, one_look, rejects
from lab.judge.registry import TRUTH, inferred
from lab.judge.stored import Stored
from lab.tables.columns import schema
from lab.tables.stored_run import Run
from tests.stored_run import change, rewrite, sign, store_run

RULE = "latency_offset"


TRIALS = 2


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    return Stored.of(Run(store_run(tmp_path_factory.mktemp("results"), TRIALS, senders=("search", "cubic", "bbr"))))


def judged(*rows: tuple[float | None, float | None, str | None, str | None]) -> pl.DataFrame:
    """Trials of one sender: capacity by the rule and in truth, class by the rule and in truth."""
    names = ["rule_s", "truth_s", "rule_class", "truth_class"]
    schema = dict.fromkeys(names[:2], pl.Float64) | dict.fromkeys(names[2:], pl.String)
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.with_columns(
        scenario=pl.lit("geo"),
        cca=pl.lit("search"),
        rule=pl.lit("a rule"),
        difference_s=table["rule_s"] - table["truth_s"],
    )


def test_a_rule_is_scored_by_its_differences_from_the_truth_and_by_the_classes_that_it_mistakes() -> None:
    trials = judged(
        (2.0, 1.0, "early", "chokepoint"),
        (4.0, 1.0, "early", "late"),
        (None, 1.0, None, "late"),
        (3.0, None, "chokepoint", "early"),
        (1.0, 1.0, "late", "late"),
        (1.5, 1.0, "late", "early"),
        (1.5, 1.0, "early", "early"),
    )
    own, together = scores.scores(trials).to_dicts()
    assert own | {"cca": scores.ALL} == together
    assert (own["cca"], own["rule"], own["trials"], own["found"], own["truth_found"]) == ("search", "a rule", 7, 6, 6)
    assert own["bias_s"] == pytest.approx((1 + 3 + 0 + 0.5 + 0.5) / 5)
    assert own["bias_median_s"] == 0.5
    assert own["bias_lo_s"] is own["bias_hi_s"] is None  # of five differences
    assert own["spread_s"] == pytest.approx(1.17, abs=0.01)
    assert (own["judged"], own["agree_pct"]) == (6, share_pct(2, 6))
    assert (own["truly_early"], own["truly_timely"], own["truly_late"]) == (3, 3, 2)
    assert (own["timely_called_early"], own["early_called_timely"]) == (2, 2)
    assert own["timely_called_early_pct"] == share_pct(2, 3)
    assert (own["timely_called_early_lo_pct"], own["timely_called_early_hi_pct"]) == wilson_pct(2, 3)


def test_each_valid_trial_has_a_row_per_rule_next_to_the_truth_as_the_client_notices_it(stored: Stored) -> None:
    table = scores.trials(stored)
    true = {
        (row["cca"], row["trial"]): row
        for row in stored.judged.outcomes.filter("valid", heuristic=TRUTH).iter_rows(named=True)
    }
    assert set(table["rule"]) == set(inferred())
    assert table.height == len(true) * len(inferred())
    for row in table.iter_rows(named=True):
        truth = true[row["cca"], row["trial"]]
        assert row["truth_class"] == truth["exit_class"]
        if truth["capacity_s"] is None:
            assert row["truth_s"] is None
        else:
            assert row["truth_s"] == pytest.approx(truth["capacity_s"] + truth["min_rtt_ms"] / 2e3)
    assert table["difference_s"].drop_nulls().len() > 0


def test_senders_are_compared_over_the_trials_that_both_have(stored: Stored) -> None:
    table = senders.values(stored)
    by_key = {(row["metric"], row["cca"], row["against"]): row for row in senders.differences(stored).to_dicts()}
    assert len(by_key) == 3 * len(senders.METRICS)
    found = by_key["throughput_mbps", "search", "bbr"]
    assert (found["pairs"], found["difference"], found["median_difference"]) == (1, 0.0, 0.0)
    assert found["effect"] == 0.5  # of all values: 6 and 7 against 6
    found = by_key["retransmits_pkts", "search", "cubic"]
    own, other = (table.filter(cca=cca)["retransmits_pkts"].to_list() for cca in ("search", "cubic"))
    assert found["pairs"] == TRIALS
    assert found["difference"] == pytest.approx(sum(a - b for a, b in zip(own, other, strict=True)) / TRIALS)


def test_a_mean_is_of_a_senders_valid_trials(stored: Stored) -> None:
    rows = {(row["cca"], row["metric"]): row for row in senders.means(stored).to_dicts()}
    search, bbr = rows["search", "throughput_mbps"], rows["bbr", "throughput_mbps"]
    assert (search["trials"], search["mean"], search["median"]) == (2, 6.5, 6.5)
    assert search["sd"] == pytest.approx(0.5**0.5)
    for name in ("mean_lo", "mean_hi", "median_lo", "median_hi"):
        assert search[name] is None  # of two trials
    assert (bbr["trials"], bbr["mean"], bbr["sd"]) == (1, 6.0, None)


def test_rows_of_other_runs_are_left_out(stored: Stored) -> None:
    table = pl.DataFrame({"scenario": ["geo", "leo"], "value": [1, 2]})
    assert write._of([stored], table).rows() == [("geo", 1)]
    assert write._of([], table).is_empty()
    assert write._of([stored], pl.DataFrame()).is_empty()


@pytest.mark.parametrize(("pairs", "trials"), [(1, 6), (3, 7), (6, 8)])
def test_the_first_look_is_where_one_pattern_of_signs_is_rare_enough_for_all_pairs(pairs: int, trials: int) -> None:
    assert first_look(pairs) == trials
    level = FIRST_SHARE * sequential.ALPHA / pairs
    assert 2 * 0.5**trials <= level < 2 * 0.5 ** (trials - 1)


def test_looks_share_the_error_and_the_last_one_has_all_trials() -> None:
    plan = looks(12, 1)
    assert plan.trials == (6, 8, 10, 12)
    assert plan.trials[1] - plan.trials[0] == STEP
    assert plan.spent[0] == FIRST_SHARE
    assert plan.spent[-1] == pytest.approx(1.0)
    assert [later - before for before, later in zip(plan.spent, plan.spent[1:], strict=False)] == pytest.approx(
        [(1 - FIRST_SHARE) / 3] * 3
    )
    assert looks(6, 1) == looks(6, 9) == one_look(6) == Looks((6,), (1.0,))


def test_a_single_look_rejects_what_is_as_extreme_as_the_level_allows() -> None:
    """Of 6 pairs two of 64 patterns have one sign only: 1/32."""
    same = [1.0] * 6
    assert rejects(same, one_look(6), requested=1 / 32)
    assert not rejects(same, one_look(6), requested=1 / 33)
    assert not rejects([*same[1:], -1.0], one_look(6), requested=1 / 8)  # 14 of 64 are as extreme
    assert rejects([*same[1:], -1.0], one_look(6), requested=14 / 64)


def test_what_a_look_has_spent_later_looks_cannot_spend_again() -> None:
    plan = Looks((5, 6), (0.5, 1.0))
    # at the first look 2 of 32 patterns are as extreme as five of one sign; after it 4 of 64 are spent
    assert rejects([1.0] * 5, plan, requested=2 / 16)
    assert not rejects([1.0] * 5, plan, requested=2 / 17)
    assert not rejects([-1.0, *[1.0] * 5], plan, requested=4 / 64)


def test_senders_of_few_trials_have_no_rank_and_the_reason_says_how_many_are_needed(stored: Stored) -> None:
    found: Values = {"search": [1.0], "cubic": [1.0], "bbr": [1.0]}
    plan = one_look(TRIALS)
    assert _unranked(stored, {"search": [1.0]}, plan) == "one sender: no rank"
    assert _unranked(stored, found, plan) == "no rank: 7 trials needed"
    assert _unranked(stored, found, one_look(4)) == "unfinished: no rank yet"
    assert _unranked(stored, {"search": [1.0], "cubic": [1.0]}, plan) == "no rank: 6 trials needed"


def test_a_digest_differs_where_a_link_has_no_result() -> None:
    link = Link("geo", "geo-viasat", 4)
    nothing = LinkResult(link, None, {}, {}, {})
    assert digest_of([nothing]) == digest_of([replace(nothing, places={})])
    assert digest_of([nothing]) != digest_of([nothing, nothing])
    assert (nothing.trials, nothing.valid("search")) == (0, 0)


def test_a_run_counts_for_nothing_because_of_the_check_that_most_trials_failed(tmp_path: Path, stored: Stored) -> None:
    assert why_invalid([]) is None
    assert why_invalid(stored.run.trials) is None
    run = Run(store_run(tmp_path, 1, senders=("search", "bbr")))
    only = [trial for trial in run.trials if trial.cca == "bbr"]
    assert why_invalid(only) == "none of its 1 trial is valid: capture drops, in 1 trial: 7 packets, must be 0"


@pytest.fixture(scope="module")
def points(stored: Stored) -> pl.DataFrame:
    return constants.grid(stored, scores.trials(stored)).filter(rule=RULE)


def test_one_point_of_a_rule_is_the_best_and_none_judges_more_exits_as_the_truth_does(points: pl.DataFrame) -> None:
    right = (pl.col("judged") * (100 - pl.col("misjudged_pct")) / 100).round()
    counted = points.with_columns(right=right)
    (best,) = counted.filter("best").to_dicts()
    assert best["right"] == counted["right"].max()
    assert best["rms_s"] == counted.filter(right=best["right"])["rms_s"].min()
    assert points["published"].sum() == 1


def test_an_exit_behind_the_first_loss_is_late_at_each_point_whatever_its_cause(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=(BASE,))
    file = run / "trials" / f"{BASE}-001" / "exits.parquet"
    pl.read_parquet(file).with_columns(cause=pl.lit("hystart")).write_parquet(file)
    sign(file)
    own = Stored.of(Run(run))
    published = constants.grid(own, scores.trials(own)).filter("published", rule=RULE)
    assert published["misjudged_pct"].to_list() == [0.0]


def test_the_distance_from_the_truth_is_a_root_mean_square(points: pl.DataFrame) -> None:
    found = points.filter(pl.col("bias_s").is_not_null())
    assert found.height > 1
    assert (found["rms_s"] >= found["bias_s"].abs() - 1e-9).all()
    one = constants._row("geo", RULE, constants.gridded()[RULE].published, [score(3.0), score(-4.0), score(None)])
    assert one["rms_s"] == pytest.approx(np.sqrt(12.5))
    assert (one["trials"], one["found"]) == (3, 2)
    assert one["bias_s"] == pytest.approx(-0.5)


def score(difference_s: float | None) -> constants.Score:
    point = constants.gridded()[RULE].published
    return constants.Score(RULE, point, difference_s, difference_s is not None, None)


def test_before_any_run_the_table_of_scenarios_has_its_types(tmp_path: Path) -> None:
    table = status(tmp_path)
    assert table.schema == schema(STATUS)
    assert table["stored"].sum() == 0
    assert set(table["state"]) == {"pending"}


@pytest.mark.parametrize(("complete", "state"), [(True, "complete"), (False, "unfinished")])
def test_a_scenario_is_complete_or_unfinished_as_its_run_is(tmp_path: Path, complete: bool, state: str) -> None:
    run = store_run(tmp_path, 1, senders=("search", "cubic"))
    change(run, complete=complete, wall_s=90.0)
    (run.parent / "latest").symlink_to(run.name)
    (row,) = status(tmp_path).filter(scenario="geo").to_dicts()
    assert (row["state"], row["stored"], row["valid"], row["minutes"]) == (state, 2, 2, 1.5)


def test_a_ratio_to_nothing_is_null(tmp_path: Path) -> None:
    run = store_run(tmp_path, 1, senders=("cubic",))
    (file,) = run.glob("trials/*/trial.json")
    meta = json.loads(file.read_text())
    first = meta["flows"][0] | {"retransmits_pkts": 0}
    rewrite(file, meta | {"flows": [first, first | {"flow": 2, "cca": "bbr", "retransmits_pkts": 3}]})
    change(run, scenario={"rival": "bbr"})
    table = flows(Stored.of(Run(run)))
    assert table["retransmits_ratio"].to_list() == [None, None]
    assert table["throughput_ratio"].to_list() == [1.0, 1.0]


RNG = np.random.default_rng(5)


@pytest.mark.parametrize("count", [6, 13, 14, 40])
def test_pairs_with_ties_are_tested_by_scipys_signed_rank_over_whole_ones(count: int) -> None:
    first, second = ([float(each) for each in RNG.integers(least, 6, count)] for least in (2, 0))
    tested = scipy.stats.wilcoxon(first, second, zero_method="pratt").pvalue
    assert signed_rank([*first, None, 9.0], [*second, 1.0, None]) == pytest.approx(tested)


def test_links_that_differ_more_than_senders_hide_nothing_from_a_paired_test() -> None:
    links = RNG.uniform(10, 1000, 30)
    assert (signed_rank(list(links + 1), list(links)) or 1) < 1e-5
    assert abs(cliffs_delta(list(links + 1), list(links)) or 0) < 0.05


def test_few_or_equal_pairs_prove_nothing() -> None:
    assert signed_rank([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]) is None
    assert signed_rank([2.0] * 8, [2.0] * 8) == 1.0


def test_cliffs_delta_counts_pairs() -> None:
    first, second = RNG.normal(0.5, 1, 31), RNG.normal(0, 1, 17)
    counted = np.mean([np.sign(a - b) for a in first for b in second])
    assert cliffs_delta(list(first), list(second)) == pytest.approx(counted)
    assert (cliffs_delta([2, 3], [0, 1]), cliffs_delta([], [1])) == (1.0, None)
