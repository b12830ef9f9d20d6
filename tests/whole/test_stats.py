# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares, means, intervals and paired comparisons: held against scipy, statsmodels and known truth."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lab.base.stats import bootstrap, effect_word, largest, mean_sd, median, paired, share_pct, smallest, wilson_pct
from lab.evaluation.sequential import ALPHA, Looks, looks, rejects
from tests.brief import present

counts = st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


@given(counts)
def test_a_share_lies_in_its_interval_and_the_interval_in_0_to_100(hits_of_trials: tuple[int, int]) -> None:
    low, high = wilson_pct(*hits_of_trials)
    share = present(share_pct(*hits_of_trials))
    assert low is not None
    assert high is not None
    assert -1e-9 <= low <= share + 1e-9 <= high + 2e-9 <= 100 + 3e-9


def test_shares_means_and_extremes_of_nothing_are_null() -> None:
    assert list(wilson_pct(74, 77)) == pytest.approx([89.16, 98.67], abs=0.01)  # as published tables give them
    assert (share_pct(0, 0), *wilson_pct(0, 0)) == (None, None, None)
    assert list(mean_sd([1.0, None, 3.0])) == pytest.approx([2.0, sqrt(2)])  # what did not happen is in no mean
    assert mean_sd([None]) == (None, None)
    assert mean_sd([4.0]) == (4.0, None)
    empty = pl.Series("t_s", [], dtype=pl.Float64)
    assert (smallest(empty), median(empty), largest(empty)) == (None, None, None)


RNG = np.random.default_rng(5)


@pytest.mark.parametrize(("hits", "trials"), [(0, 77), (3, 77), (74, 77), (77, 77), (1, 2)])
def test_wilson_is_what_statsmodels_gives(hits: int, trials: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

    requested = proportion_confint(hits, trials, alpha=0.05, method="wilson")
    assert wilson_pct(hits, trials) == pytest.approx([100 * bound for bound in requested], abs=1e-9)


def test_a_bootstrap_is_near_the_exact_intervals_and_the_same_each_time() -> None:
    from statsmodels.stats.weightstats import DescrStatsW

    values = RNG.normal(13.7, 1.7, 200)
    exact = DescrStatsW(values).tconfint_mean()
    assert bootstrap(list(values)) == pytest.approx(exact, abs=0.03)  # at 90 % it would be 0.04 narrower at each end
    values = RNG.lognormal(0, 1, 300)
    low, high = bootstrap(list(values), np.median)
    ordered = np.sort(values)
    rank = scipy.stats.binom.ppf([0.025, 0.975], 300, 0.5).astype(int)
    assert (low, high) == pytest.approx(ordered[rank], abs=0.1)
    six = [1.0, 2.0, 4.0, 5.0, 7.0, 9.0]
    assert bootstrap([*six, None]) == bootstrap(six) != (None, None)
    assert bootstrap([1.0]) == (None, None)
    assert bootstrap([3.0, 3.0, 3.0]) == (3.0, 3.0)


def test_five_values_have_no_interval_of_95_percent() -> None:
    """Its widest, from the least to the largest, holds the median of what they are drawn from in 94 % of cases."""
    assert 1 - 2 * 0.5**5 < 0.95 < 1 - 2 * 0.5**6
    assert bootstrap([1.0, 2.0, 4.0, 5.0, 7.0]) == (None, None)


def test_bootstrap_intervals_of_the_mean_hold_the_truth_as_often_as_they_say() -> None:
    held = 0
    for _ in range(150):
        low, high = bootstrap(list(RNG.exponential(2.0, 60)))
        assert low is not None
        assert high is not None
        held += low <= 2.0 <= high
    assert held / 150 > 0.88


def test_a_paired_comparison_is_over_whole_pairs() -> None:
    first, second = list(RNG.normal(1, 1, 40)), list(RNG.normal(0, 1, 40))
    with_missing = [*first, None, 9.0], [*second, 1.0, None]
    found = paired(*with_missing)
    assert found.pairs == 40
    assert found.difference == pytest.approx(np.mean(np.subtract(first, second)))
    assert found.lo is not None
    assert found.hi is not None
    assert found.difference is not None
    assert found.lo < found.difference < found.hi


def test_links_that_differ_more_than_senders_hide_nothing_from_a_paired_comparison() -> None:
    links = RNG.uniform(10, 1000, 30)
    found = paired(list(links + 1), list(links))
    assert found.difference == pytest.approx(1.0)
    assert found.effect == 1.0


def test_no_whole_pair_compares_nothing() -> None:
    assert paired([1.0], [None]).pairs == 0


@pytest.mark.parametrize(("delta", "word"), [(0.1, "negligible"), (-0.2, "small"), (0.4, "medium"), (-0.9, "large")])
def test_effects_are_worded_by_their_size(delta: float, word: str) -> None:
    assert effect_word(delta) == word


MOST, CAMPAIGNS = 12, 20_000
Numbers = npt.NDArray[np.float64]
LUCK: dict[str, Callable[[np.random.Generator, Numbers], Numbers]] = {
    "independent": lambda rng, luck: rng.random(luck.shape),
    "equal": lambda _, luck: luck,
    "opposite": lambda _, luck: 1 - luck,
}
CHANCES = {"one half": (0.5, 0.5), "one in ten": (0.1, 0.1), "of each draw": (0.0, 1.0)}


def shares(rng: np.random.Generator, chances: tuple[float, float], *lucks: str) -> list[Numbers]:
    """Return 0 or 1 of alike senders in each trial of each campaign; one sender, and one for each further luck."""
    chance, luck = rng.uniform(*chances, (CAMPAIGNS, MOST)), rng.random((CAMPAIGNS, MOST))
    return [(each < chance).astype(float) for each in (luck, *(LUCK[name](rng, luck) for name in lucks))]


def separated(differences: Numbers, plan: Looks, level: float) -> npt.NDArray[np.bool_]:
    """Return which campaigns separate at some look: of equal counts of +1 and -1 between looks one is tested."""
    bounds = list(zip((0, *plan.trials), plan.trials, strict=False))
    counts = [(differences[:, a:b] == sign).sum(axis=1) for a, b in bounds for sign in (1, -1)]
    _, first, which = np.unique(np.stack(counts, axis=1), axis=0, return_index=True, return_inverse=True)
    return np.array([rejects(list(differences[each]), plan, level) for each in first])[which.ravel()]


@pytest.mark.parametrize("luck", LUCK)
@pytest.mark.parametrize("chances", CHANCES.values(), ids=CHANCES)
def test_two_alike_senders_separate_in_at_most_5_percent(luck: str, chances: tuple[float, float]) -> None:
    one, other = shares(np.random.default_rng(40), chances, luck)
    assert separated(one - other, looks(MOST, 1), ALPHA).mean() <= ALPHA


@pytest.mark.parametrize("chances", CHANCES.values(), ids=CHANCES)
def test_a_pair_of_three_alike_senders_separates_in_at_most_5_percent(chances: tuple[float, float]) -> None:
    """Holm's procedure rejects any pair where the smallest level is at most a third."""
    one, other, third = shares(np.random.default_rng(41), chances, "opposite", "independent")
    plan = looks(MOST, 3)
    pairs = [separated(a - b, plan, ALPHA / 3) for a, b in ((one, other), (one, third), (other, third))]
    assert np.any(pairs, axis=0).mean() <= ALPHA


def test_a_test_that_takes_the_senders_as_independent_would_be_found() -> None:
    """Three of three against none: one in 32 of independent senders at a chance of one half, one in four at worst."""
    found = {}
    for luck in ("independent", "opposite"):
        one, other = shares(np.random.default_rng(42), (0.5, 0.5), luck)
        found[luck] = (abs((one - other)[:, :3].sum(axis=1)) == 3).mean()
    assert found["independent"] <= ALPHA < 0.2 < found["opposite"]
