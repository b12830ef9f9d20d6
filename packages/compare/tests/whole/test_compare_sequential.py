# SPDX-License-Identifier: GPL-2.0-or-later
"""The sequential test of two senders: its error under any stopping, its power, its looks, and what cannot change it."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_compare import results as of_links
from lab_compare.comparison import Comparison, known_senders
from lab_compare.growing import looks_of
from lab_compare.link_kinds import KINDS, Link
from lab_compare.ranks import Pair, RankedPlace, not_separated, pairs, places
from lab_compare.results import LinkResult, attempted

from lab.evaluation.measures import BY_NAME, PRIMARY
from lab.evaluation.sequential import (
    ALPHA,
    ENUMERATED_PAIRS,
    LEVELS,
    PAIRS,
    first_look,
    holm,
    hopeless,
    level,
    looks,
    one_look,
    rejects,
)
from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests.examples import examples
from tests.stored_run import change, store_run

MOST = 12
Rng = np.random.Generator
Sample = Callable[[Rng, int], np.ndarray]


def heavy(rng: Rng, count: int) -> np.ndarray:
    """Differences of two alike senders over links that differ much: one pair may outweigh all others."""
    return np.asarray(rng.lognormal(0, 1.5, count) * rng.choice([-1.0, 1.0], count))


def counts(rng: Rng, count: int) -> np.ndarray:
    """Differences with many ties: retransmissions."""
    return np.asarray(rng.poisson(1.0, count) - rng.poisson(1.0, count), dtype=float)


def shares(rng: Rng, count: int) -> np.ndarray:
    """Differences of a share on links that suit both senders more or less."""
    chance = rng.uniform(0, 1, count)
    return np.asarray((rng.random(count) < chance).astype(float) - (rng.random(count) < chance))


def even_shares(rng: Rng, count: int) -> np.ndarray:
    """Differences of a share of one half: half of the pairs differ."""
    return np.asarray(rng.integers(0, 2, count) - rng.integers(0, 2, count), dtype=float)


@pytest.mark.parametrize("sample", [heavy, counts, shares, even_shares])
@pytest.mark.parametrize("compared", [1, 6])
def test_alike_senders_separate_at_most_as_often_as_stated_however_one_stops(sample: Sample, compared: int) -> None:
    rng, plan, campaigns = np.random.default_rng(9743), looks(MOST, compared), examples(250)
    wrong = 0
    for _ in range(campaigns):
        differences = list(sample(rng, MOST))
        wrong += any(rejects(differences[:taken], plan) for taken in plan.trials)
    assert wrong <= scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


def test_an_error_that_each_look_spends_anew_would_be_found() -> None:
    """The simulation above can fail: looks that each take the whole level are wrong more often than stated."""
    plan, campaigns = looks(40, 1), 300
    differences = np.random.default_rng(9743).normal(0, 1, (campaigns, 40))
    rejected = [scipy.stats.ttest_1samp(differences[:, :taken], 0, axis=1).pvalue <= ALPHA for taken in plan.trials]
    wrong = np.any(rejected, axis=0).sum()
    assert wrong > scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


def test_three_alike_senders_get_different_ranks_at_most_as_often_as_stated() -> None:
    rng, campaigns, wrong = np.random.default_rng(5), examples(150), 0
    plan = looks(MOST, 3)
    for _ in range(campaigns):
        link = rng.lognormal(2, 1, MOST)
        values = {name: list(link + rng.normal(0, 1, MOST)) for name in ("a", "b", "c")}
        wrong += any(pair.separated for pair in pairs(values, plan, False))
    assert wrong <= scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


@pytest.mark.parametrize("compared", [1, 3, 6, 10, *PAIRS[60:]])
def test_senders_that_differ_in_every_trial_separate_at_the_first_look(compared: int) -> None:
    plan = looks(24, compared)
    found = level([1.0] * plan.trials[0], plan)
    assert found <= ALPHA / compared * (1 + 1e-9)
    assert level([1.0] * (plan.trials[0] - 1), plan) == 1.0


@pytest.mark.parametrize("compared", [1, 6])
def test_one_trial_less_than_the_first_look_can_separate_nothing(compared: int) -> None:
    fewer = first_look(compared) - 1
    assert level([1.0] * fewer, looks(fewer, compared)) > 0.95 * ALPHA / compared


@settings(max_examples=25)
@given(st.lists(st.floats(-100, 100), min_size=6, max_size=MOST), st.floats(0.01, 1000))
def test_the_order_of_the_two_senders_and_the_unit_do_not_matter(differences: list[float], unit: float) -> None:
    rounded = [round(value, 3) for value in differences]
    plan = looks(MOST, 1)
    found = level(rounded, plan)
    assert found in LEVELS
    assert level([-value for value in rounded], plan) == found
    if unit >= 1:
        assert level([value * round(unit) for value in rounded], plan) == found


@settings(max_examples=25)
@given(st.lists(st.integers(-5, 5), min_size=MOST, max_size=MOST))
def test_what_a_look_has_separated_stays_separated(differences: list[int]) -> None:
    plan = looks(MOST, 1)
    found = [level([float(value) for value in differences[:taken]], plan) for taken in plan.trials]
    assert found == sorted(found, reverse=True)


def test_a_trial_without_a_value_is_no_evidence_and_many_pairs_are_tested_by_drawn_patterns() -> None:
    plan = looks(MOST, 1)
    assert level([1.0, None] * 6, plan) == level([1.0] * 6, looks(6, 1))
    assert level([None] * MOST, plan) == 1.0
    assert level([0.0] * MOST, plan) == 1.0
    plan = looks(2 * ENUMERATED_PAIRS, 6)
    alike = [float(1 + number % 3) * (-1) ** number for number in range(2 * ENUMERATED_PAIRS)]
    assert not rejects(alike, plan)
    assert rejects([abs(each) for each in alike], plan)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=10))
def test_holm_rejects_what_statsmodels_rejects(levels: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    if not any(np.isclose(found, ALPHA / step) for found in levels for step in range(1, 11)):  # equal but for rounding
        assert holm(levels) == list(multipletests(levels, ALPHA, method="holm")[0])


VALUES = {"a": [10.0] * MOST, "b": [5.0] * MOST, "c": [5.0 + (-1) ** n for n in range(MOST)]}


def test_a_sender_is_behind_those_that_separated_from_it_and_a_link_goes_on_until_the_subject_has() -> None:
    tested = pairs(VALUES, looks(MOST, 3), False)
    more, less = (places(list(VALUES), tested, better) for better in (True, False))
    assert more == {"a": RankedPlace(1, 1), "b": RankedPlace(2, 3), "c": RankedPlace(2, 3)}
    assert less == {"a": RankedPlace(3, 3), "b": RankedPlace(1, 2), "c": RankedPlace(1, 2)}
    tested = pairs(VALUES, looks(MOST, 3), False)
    assert not_separated(tested, ["a"]) == []
    assert [(pair.first, pair.second) for pair in not_separated(tested, ["b"])] == [("b", "c")]


def test_a_sender_that_separated_from_one_of_two_tied_senders_shares_a_rank_with_the_other() -> None:
    """A single number would give a and b the ranks 1 and 2, though they have not separated."""
    a, b, c = [5.0, 5.2] * 6, [5.0, 5.2, 4.0] * 4, [3.0] * MOST
    tested = pairs({"a": a, "b": b, "c": c}, looks(MOST, 3), False)
    assert [(pair.first, pair.second) for pair in tested if not pair.separated] == [("a", "b")]
    assert places(["a", "b", "c"], tested, True) == {
        "a": RankedPlace(1, 2),
        "b": RankedPlace(1, 2),
        "c": RankedPlace(3, 3),
    }


def test_the_rank_intervals_of_senders_in_a_known_order_hold_it_at_least_as_often_as_stated() -> None:
    rng, plan, campaigns, wrong = np.random.default_rng(7), looks(8, 3), examples(150), 0
    for _ in range(campaigns):
        values = {name: list(mean + rng.normal(0, 1, 8)) for name, mean in (("a", 2.0), ("b", 1.5), ("c", 0.0))}
        found = places(list(values), pairs(values, plan, False), True)
        true = {"a": 1, "b": 2, "c": 3}
        wrong += any(not place.best <= true[name] <= place.worst for name, place in found.items())
    assert wrong <= scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=2))
def test_ranks_begin_at_one_and_equal_senders_share_one(values: dict[str, list[int]]) -> None:
    as_floats: dict[str, Sequence[float | None]] = {name: [float(each) for each in row] for name, row in values.items()}
    tested: list[Pair] = pairs(as_floats, looks(8, 6), False)
    found = places(list(values), tested, True)
    assert min(place.best for place in found.values()) == 1
    assert max(place.worst for place in found.values()) == len(values)
    assert all(place.best <= place.worst for place in found.values())
    if not any(pair.separated for pair in tested):
        assert set(found.values()) == {RankedPlace(1, len(values))}


@settings(max_examples=40)
@given(st.lists(st.sampled_from([1.0, 0.0, -1.0, None]), min_size=4, max_size=8), st.data())
def test_a_pair_of_shares_that_is_given_up_separates_with_no_values_of_the_trials_to_come(
    differences: list[float | None], data: st.DataObject
) -> None:
    plan = looks(MOST, 6)
    rest = MOST - len(differences)
    to_come = data.draw(st.lists(st.sampled_from([1.0, 0.0, -1.0]), min_size=rest, max_size=rest))
    if hopeless(differences, plan, True):
        assert not any(rejects([*differences, *to_come[:taken]], plan) for taken in range(rest + 1))


@settings(max_examples=40)
@given(
    st.lists(st.floats(-9, 9), min_size=8, max_size=10),
    st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4),
    st.booleans(),
)
def test_a_pair_of_amounts_that_is_given_up_separates_with_no_values_of_the_trials_to_come(
    differences: list[float], to_come: list[float], one_sign: bool
) -> None:
    plan = looks(MOST, 6)
    rest = [abs(value) if one_sign else value for value in to_come[: MOST - len(differences)]]
    if hopeless(differences, plan, False):
        assert not any(rejects([*differences, *rest[:taken]], plan) for taken in range(len(rest) + 1))


@pytest.mark.parametrize(("sample", "binary"), [(even_shares, True), (counts, False)])
def test_giving_up_changes_no_result_and_saves_a_third_of_the_trials_of_a_tie(sample: Sample, binary: bool) -> None:
    rng, plan, campaigns, taken = np.random.default_rng(3), looks(MOST, 6), 60, 0
    for _ in range(campaigns):
        differences = list(sample(rng, MOST))
        ends = [each for each in plan.trials if hopeless(differences[:each], plan, binary)]
        taken += ends[0] if ends else MOST
        if ends and ends[0] < MOST:
            assert not rejects(differences, plan)
    assert taken <= campaigns * MOST * 2 / 3 * 1.1


def test_a_pair_that_may_still_separate_is_not_given_up() -> None:
    plan = looks(MOST, 6)
    assert not hopeless([1.0, 1.0, 0.0, 0.0], plan, True)
    assert not hopeless([0.5, 0.5, 0.0, 0.0], plan, False)
    assert not hopeless([0.0] * 6, plan, True)
    assert hopeless([0.0] * 7, plan, True)  # of 5 pairs with one sign 2 of 32 patterns are as extreme
    assert rejects([0.0, 0.0, *[1.0] * 10], plan)
    assert not hopeless([0.0, 0.0], plan, True)


@settings(max_examples=40)
@given(st.lists(st.integers(-9, 9), min_size=4, max_size=10), st.sampled_from([1e-4, 1e-2, 1e3]))
def test_the_unit_of_a_measure_changes_no_level(differences: list[int], unit: float) -> None:
    plan = looks(MOST, 6)
    assert level([each * unit for each in differences], plan) == level(differences, plan)


WIRED = KINDS["wired"]


def test_a_pair_is_tested_by_the_measure_that_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    senders = ("search", "cubic")
    link = Link("geo", "geo-viasat", 4)
    comparison = Comparison(["search"], known_senders(senders), [link], 6)
    plan = looks_of(comparison)
    none = of_links.tested_pairs(comparison, None, BY_NAME[PRIMARY], plan)
    assert [(pair.separated, pair.difference.pairs) for pair in none] == [(False, 0)]
    assert of_links.of_link(link, None, plan) == LinkResult(link, None, {}, {}, {})
    run = store_run(tmp_path, 6, name="compare-geo", senders=senders, latest=True)
    change(run, seeds=list(range(1, 7)))
    ((_, stored),) = of_links.stored_of([link], "")
    (by_class,), (by_rate,) = (
        of_links.tested_pairs(comparison, stored, BY_NAME[name], plan) for name in (PRIMARY, "throughput")
    )
    assert by_class.difference.difference == pytest.approx(1.0)  # one always at the chokepoint, the other never
    assert by_rate.difference.difference == pytest.approx(0.0)
    assert by_class.difference.pairs == by_rate.difference.pairs == 6


def test_a_look_is_taken_although_its_last_trial_always_fails(tmp_path: Path) -> None:
    run, plan = store_run(tmp_path, 8, senders=("search", "cubic")), one_look(8)
    comparison = Comparison(["search"], known_senders(("search", "cubic")), [WIRED], 8)
    shutil.rmtree(run / "trials" / "cubic-008")
    for stated, is_taken in ((7, False), (8, True)):
        change(run, complete=False, seeds=list(range(1, 9)), attempted=stated)
        (pair,) = of_links.tested_pairs(comparison, Stored.of(Run(run)), BY_NAME[PRIMARY], plan)
        assert pair.separated is is_taken
        assert (of_links.of_link(WIRED, Stored.of(Run(run)), plan).unranked == {}) is is_taken


def test_a_look_is_taken_up_to_the_last_trial_that_every_sender_has(tmp_path: Path) -> None:
    run = store_run(tmp_path, 3, senders=("search", "cubic"))
    assert attempted(Stored.of(Run(run))) == 3
    change(run, complete=False)
    shutil.rmtree(run / "trials" / "cubic-003")
    assert attempted(Stored.of(Run(run))) == 2
    for stated, found in ((1, 2), (3, 3), (9, 3)):  # what failed at the end has no later trial that shows it
        change(run, attempted=stated)
        assert attempted(Stored.of(Run(run))) == found
    change(run, attempted=0)
    shutil.rmtree(run / "trials")
    assert attempted(Stored.of(Run(run))) == 0
