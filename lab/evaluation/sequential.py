# SPDX-License-Identifier: GPL-2.0-or-later
"""When two senders have separated: a group-sequential test of paired trials, with an error that its looks share.

The null hypothesis is that both senders are alike on the link. Then the difference of a pair has either sign with the
same probability, however the two depend on each other on a draw: independent, always equal, or with opposite luck. So
signs alone are evidence, and a pair without a difference is none. Of a share, which is 0 or 1 in each trial, this is
McNemar's exact test, the sign test of the pairs that differ, over several looks.

The statistic of a look is the sum of the differences so far. Under the null hypothesis its joint distribution over all
looks is known: every pattern of signs is alike. A look may reject so many of these patterns that, with those that
earlier looks rejected, their share is at most the level times what may be spent by then. So the error over all looks
together is at most the level, whenever one stops, and for whatever reason.

`level` returns the smallest level at which the test has rejected so far: it serves as a p value under early stopping.

`hopeless` looks ahead: whatever values the remaining trials give, the test will not reject. It is exact, so that a
comparison that ends then separates what it would have separated with all its trials. A later trial without a value
makes other sums rare, which is not foreseen: a pair may then be called tied that would have separated. The error stays
as it is in any case, since giving up rejects nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

ALPHA = 0.05
FIRST_SHARE = 0.95  # of the error, that the first look may spend: most senders differ in every pair, or not at all
STEP = 2  # trials between looks
ENUMERATED_PAIRS = 14  # that differ: up to here every pattern of signs is counted, above it random ones
PATTERNS = 1 << 14
PATTERN_SEED = 9743
MOST_SENDERS = 28  # whose pairs can all be separated: of more, Holm's first step needs rarer patterns than are counted
PAIRS = (*range(1, 61), *(senders * (senders - 1) // 2 for senders in range(12, MOST_SENDERS + 1)))
LEVELS = (1.0, 0.5, 0.2, 0.1, *sorted([*(ALPHA / pairs for pairs in PAIRS), 5e-4, 2e-4, 1e-4], reverse=True))
ROUNDING = 1e-9
KEPT = 16  # sets of patterns in memory: one per number of pairs

Numbers = npt.NDArray[np.float64]
Patterns = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Looks:
    """After how many trials one looks, and what share of the error may be spent by then."""

    trials: tuple[int, ...]
    spent: tuple[float, ...]


def looks(most_trials: int, pairs: int) -> Looks:
    """Return the looks of a link: the first where so many pairs of senders can all be separated, then every STEP.

    Fewer trials than that give a single look, at the end.
    """
    first = first_look(pairs)
    trials = [*range(first, most_trials, STEP), most_trials] if first < most_trials else [most_trials]
    if len(trials) == 1:
        return one_look(most_trials)
    later = (1 - FIRST_SHARE) / (len(trials) - 1)
    return Looks(tuple(trials), tuple(FIRST_SHARE + later * number for number in range(len(trials))))


def one_look(trials: int) -> Looks:
    """Return the looks of a run of a fixed size: one, when all its trials are there."""
    return Looks((trials,), (1.0,))


def first_look(pairs: int) -> int:
    """Return the fewest trials of which a pattern in one direction is as rare as Holm's first step requires."""
    trials = 1
    while 2 * 0.5**trials > FIRST_SHARE * ALPHA / pairs:
        trials += 1
    return trials


def level(differences: Sequence[float | None], plan: Looks) -> float:
    """Return the smallest level at which the test rejects by now, and at each larger one too; 1 where at none.

    differences: one per trial from the first on; None where the pair has no value. Looks that lie beyond them have not
    been taken.
    """
    taken = _taken(differences, plan)
    found = 1.0
    for requested in LEVELS:
        if not _rejects(taken, requested):
            break
        found = requested
    return found


def holm(levels: Sequence[float]) -> list[bool]:
    """Return which hypotheses Holm's procedure rejects: the smallest is compared with ALPHA over their number."""
    order = sorted(range(len(levels)), key=lambda place: levels[place])
    rejected = [False] * len(levels)
    for step, place in enumerate(order):
        if levels[place] > ALPHA / (len(levels) - step) * (1 + 1e-9):
            break
        rejected[place] = True
    return rejected


def rejects(differences: Sequence[float | None], plan: Looks, requested: float = ALPHA) -> bool:
    """Return whether the test of one level has rejected by now."""
    return _rejects(_taken(differences, plan), requested)


def hopeless(differences: Sequence[float | None], plan: Looks, binary: bool) -> bool:
    """Return whether no values of the trials to come let the test reject, at whichever step of Holm's procedure.

    The values that reject soonest have one sign. A share's are 1. Of amounts each outweighs all before it together: a
    pattern with the same signs from there on, and a sum as large until then, is as extreme whatever the values are.
    """
    to_come = plan.trials[-1] - len(differences)
    largest = 1.0 + sum(abs(value) for value in differences if value is not None)
    best = [1.0 if binary else largest * 2**number for number in range(to_come)]
    completed = [[*differences, *(sign * value for value in best)] for sign in (1, -1)]
    return not any(rejects(each, plan) for each in completed)


@dataclass(frozen=True)
class _Look:
    """A look that was taken: the sum so far, that of every pattern, and what may be spent by then."""

    observed: float
    sums: Numbers
    spent: float


def _taken(differences: Sequence[float | None], plan: Looks) -> list[_Look]:
    """Return the looks that were taken; none where no pair differs."""
    known = [(trial, value) for trial, value in enumerate(differences, start=1) if value]
    if not known:
        return []
    values = np.array([value for _, value in known])
    found = []
    for trials, spent in zip(plan.trials, plan.spent, strict=True):
        if trials <= len(differences):
            end = sum(trial <= trials for trial, _ in known)
            found.append(_Look(float(_rounded(abs(values[:end].sum()))), _sums(values, end), spent))
    return found


def _sums(values: Numbers, end: int) -> Numbers:
    """Return the absolute sum of each pattern of signs after so many pairs; that of what came out is the first."""
    return _rounded(np.abs(_signs(len(values))[:, :end] @ values[:end]))


@lru_cache(KEPT)
def _signs(pairs: int) -> Patterns:
    if pairs <= ENUMERATED_PAIRS:
        return np.asarray(1 - 2 * ((np.arange(1 << pairs)[:, None] >> np.arange(pairs)) & 1), np.int8)
    patterns = np.random.default_rng(PATTERN_SEED).choice(np.array([-1, 1], np.int8), (PATTERNS, pairs))
    patterns[0] = 1  # what came out counts, too: else the error could exceed the level
    return patterns


def _rounded(values: npt.ArrayLike) -> Numbers:
    """Return sums of which those that are equal but for the order of their terms are equal."""
    return np.asarray(np.round(np.asarray(values) / ROUNDING) * ROUNDING)


def _rejects(taken: Sequence[_Look], requested: float) -> bool:
    """Return whether the test of one level rejects at some look."""
    if not taken:
        return False
    count = len(taken[0].sums)
    alive = np.ones(count, dtype=bool)
    for look in taken:
        room = requested * look.spent * count + ROUNDING - (count - alive.sum())
        bound = _bound(look.sums[alive], room)
        if look.observed >= bound:
            return True
        alive &= look.sums < bound
    return False


def _bound(sums: Numbers, room: float) -> float:
    """Return the smallest sum above 0 that at most `room` patterns reach; infinity where none is that rare."""
    ordered = np.sort(sums)
    left = len(sums) - int(max(room, 0.0))  # patterns that may not reach it
    largest = max(ordered[left - 1], 0.0) if left > 0 else 0.0
    return float(next(iter(ordered[np.searchsorted(ordered, largest, "right") :]), np.inf))
