# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims of orders, limits, ratios and totals: what ours is made of."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from counterfactuals import TRIALS, explained
from lab_papers.evaluation.claims.difference import compared, distance, of_claim
from lab_papers.evaluation.claims.estimate import of_rows, ratio_of
from lab_papers.evaluation.claims.rows import NOT_RUN
from lab_papers.evaluation.claims.verdict import AGREES, UNJUDGED
from test_counterfactual import folder, kept, losses_s, runs

__all__ = ["folder", "runs"]  # fixtures


def trials(**columns: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(columns, strict=False)


def test_a_ratio_is_of_means_over_the_pairs_that_both_have() -> None:
    first, second = pl.Series([1.0, None, 3.0, *range(4, 9)]), pl.Series([2.0, 9.0, None, *range(8, 18, 2)])
    found = ratio_of(first, second)
    assert (found.value, found.trials) == (0.5, 6)
    assert (found.lo, found.hi) == pytest.approx((0.5, 0.5))  # all pairs have that ratio
    assert ratio_of(first[:-1], second[:-1]).lo is None  # of five


def test_a_ratio_to_nothing_is_null() -> None:
    assert ratio_of(pl.Series([1.0, 2.0]), pl.Series([0.0, 0.0])).value is None


def test_the_interval_of_a_ratio_follows_its_pairs() -> None:
    values = pl.Series([float(n) for n in range(1, 41)])
    alike, apart = ratio_of(values, values), ratio_of(values, values.reverse())
    assert (alike.lo, alike.hi) == (1, 1)
    assert apart.lo is not None
    assert apart.hi is not None
    assert apart.lo < 1 < apart.hi


def test_detection_counts_the_exits_of_search_after_capacity_in_round_trips() -> None:
    rows = trials(
        exit_s=[3.0, 4.0, 1.0, 9.0],
        capacity_s=[2.0, 2.0, 2.0, 2.0],
        exit_cause=["search", "search", "search", "loss"],
        exit_class=["chokepoint", "late", "early", "late"],
        min_rtt_ms=[500.0] * 4,
    )
    found = of_rows(rows, "detection_rtts")
    assert (found.value, found.trials) == (3.0, 2)


def test_bins_suffice_where_the_largest_round_trip_is_within_those_that_are_kept() -> None:
    # A bin is 0.35 of the first round trip: 15 of them are 5.25.
    rows = trials(initial_rtt_ms=[100.0] * 4, max_rtt_ms=[100.0, 525.0, 526.0, None])
    found = of_rows(rows, "bins_suffice_pct")
    assert found.value == pytest.approx(200 / 3)
    assert found.trials == 3


def test_capacity_is_found_in_a_share_of_all_downloads() -> None:
    found = of_rows(trials(capacity_s=[2.0, None, None, None]), "capacity_found_pct")
    assert (found.value, found.trials) == (25, 4)


def test_a_largest_value_has_no_interval() -> None:
    rows = trials(initial_rtt_ms=[100.0, 50.0], max_rtt_ms=[300.0, 250.0])
    assert of_rows(rows, "largest_rtt_ratio").value == 5
    assert of_rows(rows, "largest_rtt_s").value == 0.3
    assert of_rows(rows, "largest_rtt_s").lo is None


def test_a_bound_is_kept_or_not_in_words() -> None:
    row = {"metric": "detection_rtts", "unit": "RTTs", "published": 2.0, "tolerance": 0.0, "bound": "at_most"}
    ours = {"ours": 11.0, "lo": 10.0, "hi": 12.0}
    assert compared(row | ours) == "11 RTTs here, 2 RTTs published: 9 RTTs more, where at most is stated"
    assert distance(row | ours).endswith("; our whole interval does not keep it")
    assert of_claim(row | {"ours": 1.0, "lo": 0.5, "hi": 1.9}).interval_contains is True
    assert of_claim(row | {"ours": 1.0, "lo": 0.5, "hi": 2.1}).interval_contains is False


def test_a_total_counts_the_downloads_of_every_pooled_scenario(runs: Path, folder: Path) -> None:
    alone = explained(row="Alone", values={"late_pct": 100})
    total = explained(row="Total", values={"late_pct": 100, "loss_s": 1.0}, pooled=["faster"])
    found = {(row["row"], row["metric"]): row for row in kept(runs, folder, alone, total).to_dicts()}
    assert found["Alone", "late_pct"]["trials"] == TRIALS
    assert found["Total", "late_pct"]["trials"] == 2 * TRIALS
    assert found["Total", "late_pct"]["pooled"] == "faster"
    mean = (losses_s(runs, "mine")[0] + losses_s(runs, "faster")[0]) / 2
    assert found["Total", "loss_s"]["ours"] == pytest.approx(mean)


def test_a_size_of_the_authors_structures_has_no_value_of_ours(runs: Path, folder: Path) -> None:
    (row,) = kept(runs, folder, explained(values={"overhead_pct": 2.5}, not_judged="a structure")).to_dicts()
    assert (row["verdict"], row["why"], row["ours"]) == (UNJUDGED, "a structure", None)


def test_a_total_without_one_of_its_runs_has_not_run(runs: Path, folder: Path) -> None:
    (row,) = kept(runs, folder, explained(values={"late_pct": 100}, pooled=["elsewhere"])).to_dicts()
    assert (row["verdict"], row["why"], row["ours"]) == (UNJUDGED, NOT_RUN, None)


def test_an_order_of_two_senders_is_judged_over_the_same_links(runs: Path, folder: Path) -> None:
    values = {"exit_s": 1, "retransmits_pkts": 1}
    order = explained(relative_to="search", bound="at_least", values=values)
    rows = {row["metric"]: row for row in kept(runs, folder, order).to_dicts()}
    assert rows["exit_s"]["verdict"] == AGREES
    assert rows["exit_s"]["ours"] > 1
    assert rows["exit_s"]["unit"] == "times"
    assert rows["exit_s"]["form"] == "CUBIC without HyStart, relative to SEARCH 2.0 + fixes"
    assert rows["exit_s"]["claim"].startswith(
        "The time in slow start of CUBIC without HyStart is at least 1 times that"
    )
