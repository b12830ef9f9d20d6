# SPDX-License-Identifier: GPL-2.0-or-later
"""The sequential test of two senders: its error under any stopping, its power, and what cannot change its result."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from lab.evaluation.compare.ranks import Pair, holm, pairs, places, undecided
from lab.evaluation.compare.sequential import ALPHA, LEVELS, first_look, level, looks

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
    """Differences of a share of one half: where the test of shares is closest to its level."""
    return np.asarray(rng.integers(0, 2, count) - rng.integers(0, 2, count), dtype=float)


@pytest.mark.parametrize(("sample", "binary"), [(heavy, False), (counts, False), (shares, True), (even_shares, True)])
@pytest.mark.parametrize("compared", [1, 6])
def test_alike_senders_separate_at_most_as_often_as_stated_however_one_stops(
    sample: Sample, binary: bool, compared: int
) -> None:
    rng, plan, campaigns = np.random.default_rng(9743), looks(MOST, compared, binary), 250
    wrong = 0
    for _ in range(campaigns):
        differences = list(sample(rng, MOST))
        wrong += any(level(differences[:taken], plan, binary) <= ALPHA for taken in plan.trials)
    assert wrong <= scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


def test_an_error_that_each_look_spends_anew_would_be_found() -> None:
    """The simulation above can fail: looks that each take the whole level are wrong more often than stated."""
    rng, plan, campaigns = np.random.default_rng(9743), looks(40, 1, False), 300
    wrong = 0
    for _ in range(campaigns):
        differences = rng.normal(0, 1, 40)
        wrong += any(scipy.stats.ttest_1samp(differences[:taken], 0).pvalue <= ALPHA for taken in plan.trials)
    assert wrong > scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


def test_three_alike_senders_get_different_ranks_at_most_as_often_as_stated() -> None:
    rng, campaigns, wrong = np.random.default_rng(5), 150, 0
    plan = looks(MOST, 3, False)
    for _ in range(campaigns):
        link = rng.lognormal(2, 1, MOST)
        values = {name: list(link + rng.normal(0, 1, MOST)) for name in ("a", "b", "c")}
        wrong += any(pair.separated for pair in pairs(values, plan, False))
    assert wrong <= scipy.stats.binom.ppf(0.999, campaigns, ALPHA)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("compared", [1, 3, 6, 10])
def test_senders_that_differ_in_every_trial_separate_at_the_first_look(compared: int, binary: bool) -> None:
    plan = looks(20, compared, binary)
    found = level([1.0] * plan.trials[0], plan, binary)
    assert found <= ALPHA / compared * (1 + 1e-9)
    assert level([1.0] * (plan.trials[0] - 1), plan, binary) == 1.0


@pytest.mark.parametrize("compared", [1, 6])
def test_one_trial_less_than_the_first_look_can_separate_nothing(compared: int) -> None:
    fewer = first_look(compared, binary=False) - 1
    assert level([1.0] * fewer, looks(fewer, compared, False), False) > 0.95 * ALPHA / compared


@settings(max_examples=25)
@given(st.lists(st.floats(-100, 100), min_size=6, max_size=MOST), st.floats(0.01, 1000))
def test_the_order_of_the_two_senders_and_the_unit_do_not_matter(differences: list[float], unit: float) -> None:
    rounded = [round(value, 3) for value in differences]
    plan = looks(MOST, 1, False)
    found = level(rounded, plan, False)
    assert found in LEVELS
    assert level([-value for value in rounded], plan, False) == found
    if unit >= 1:
        assert level([value * round(unit) for value in rounded], plan, False) == found


@settings(max_examples=25)
@given(st.lists(st.integers(-5, 5), min_size=MOST, max_size=MOST))
def test_what_a_look_has_separated_stays_separated(differences: list[int]) -> None:
    plan = looks(MOST, 1, False)
    found = [level([float(value) for value in differences[:taken]], plan, False) for taken in plan.trials]
    assert found == sorted(found, reverse=True)


def test_a_trial_without_a_value_is_no_evidence() -> None:
    plan = looks(MOST, 1, False)
    assert level([1.0, None] * 6, plan, False) == level([1.0] * 6, looks(6, 1, False), False)
    assert level([None] * MOST, plan, False) == 1.0
    assert level([0.0] * MOST, plan, False) == 1.0


@settings(max_examples=25)
@given(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=10))
def test_holm_rejects_what_statsmodels_rejects(levels: list[float]) -> None:
    if not any(np.isclose(found, ALPHA / step) for found in levels for step in range(1, 11)):  # equal but for rounding
        assert holm(levels) == list(multipletests(levels, ALPHA, method="holm")[0])


VALUES = {"a": [10.0] * MOST, "b": [5.0] * MOST, "c": [5.0 + (-1) ** n for n in range(MOST)]}


def test_a_sender_is_behind_those_that_separated_from_it_and_ties_with_the_others() -> None:
    tested = pairs(VALUES, looks(MOST, 3, False), False)
    more, less = (places(list(VALUES), tested, better) for better in (True, False))
    assert {name: (place.rank, place.ties) for name, place in more.items()} == {"a": (1, 0), "b": (2, 1), "c": (2, 1)}
    assert {name: (place.rank, place.ties) for name, place in less.items()} == {"a": (3, 0), "b": (1, 1), "c": (1, 1)}


def test_a_link_goes_on_while_the_subject_has_not_separated_from_every_other() -> None:
    tested = pairs(VALUES, looks(MOST, 3, False), False)
    assert undecided(tested, ["a"]) == []
    assert [(pair.first, pair.second) for pair in undecided(tested, ["b"])] == [("b", "c")]


@settings(max_examples=25)
@given(st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=2))
def test_ranks_begin_at_one_and_equal_senders_share_one(values: dict[str, list[int]]) -> None:
    as_floats: dict[str, Sequence[float | None]] = {name: [float(each) for each in row] for name, row in values.items()}
    tested: list[Pair] = pairs(as_floats, looks(8, 6, False), False)
    found = places(list(values), tested, True)
    assert min(place.rank for place in found.values()) == 1
    if not any(pair.separated for pair in tested):
        assert {(place.rank, place.ties) for place in found.values()} == {(1, len(values) - 1)}
