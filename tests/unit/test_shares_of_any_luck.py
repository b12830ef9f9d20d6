# SPDX-License-Identifier: GPL-2.0-or-later
"""The test of paired shares keeps its error whether two alike senders have independent, equal or opposite luck."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from lab.evaluation.compare.sequential import ALPHA, Looks, looks, rejects

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


def test_three_of_three_against_none_separates_nothing() -> None:
    assert not rejects([1.0] * 3, looks(3, 1))
    assert not rejects([1.0] * 5, looks(5, 1))
    assert rejects([1.0] * 6, looks(MOST, 1))
