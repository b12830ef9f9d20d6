# SPDX-License-Identifier: GPL-2.0-or-later
"""When two senders have separated: a group-sequential test of paired trials, with an error that its looks share.

The null hypothesis is that both senders are alike on the link. Then the difference of a pair has either sign with the
same probability. A share (`binary`) is 0 or 1 in each trial, and both senders have the same chance q there: then the
difference is +1 or -1 with q (1 - q) each, at most 1/4, so that it is also evidence that a pair differs at all.

The statistic of a look is the sum of the differences so far. Under the null hypothesis its joint distribution over all
looks is known: every pattern of signs is alike. A look may reject so many of these patterns that, with those that
earlier looks rejected, their share is at most the level times what may be spent by then. So the error over all looks
together is at most the level, whenever one stops, and for whatever reason.

`level` returns the smallest level at which the test has rejected so far: it serves as a p value under early stopping.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.05
FIRST_SHARE = 0.95  # of the error, that the first look may spend: most senders differ in every pair, or not at all
STEP = 2  # trials between looks
ENUMERATED_PAIRS = 12  # up to here every pattern of signs is counted, above it random ones
PATTERNS = 1 << 14
PATTERN_SEED = 9743
LEVELS = (1.0, 0.5, 0.2, 0.1, *(ALPHA / divisor for divisor in range(1, 61)), 5e-4, 2e-4, 1e-4)
ROUNDING = 1e-9

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Looks:
    """After how many trials one looks, and what share of the error may be spent by then."""

    trials: tuple[int, ...]
    spent: tuple[float, ...]


def looks(most_trials: int, pairs: int, binary: bool) -> Looks:
    """Return the looks of a link: the first where so many pairs of senders can all be separated, then every STEP.

    Fewer trials than that give a single look, at the end.
    """
    first = first_look(pairs, binary)
    trials = [*range(first, most_trials, STEP), most_trials] if first < most_trials else [most_trials]
    if len(trials) == 1:
        return Looks((most_trials,), (1.0,))
    later = (1 - FIRST_SHARE) / (len(trials) - 1)
    return Looks(tuple(trials), tuple(FIRST_SHARE + later * number for number in range(len(trials))))


def first_look(pairs: int, binary: bool) -> int:
    """Return the fewest trials of which a pattern in one direction is as rare as Holm's first step requires."""
    rarity = 0.25 if binary else 0.5
    trials = 1
    while 2 * rarity**trials > FIRST_SHARE * ALPHA / pairs:
        trials += 1
    return trials


def level(differences: Sequence[float | None], plan: Looks, binary: bool) -> float:
    """Return the smallest level at which the test rejects by now, and at each larger one too; 1 where at none.

    differences: one per trial from the first on; None where the pair has no value. Looks that lie beyond them have not
    been taken.
    """
    taken = [number for number, trials in enumerate(plan.trials) if trials <= len(differences)]
    known = [(trial, value) for trial, value in enumerate(differences, start=1) if value is not None]
    if not taken or not any(value for _, value in known):
        return 1.0
    ends = [sum(trial <= plan.trials[number] for trial, _ in known) for number in taken]
    values = np.array([value for _, value in known])
    sums = _null(np.abs(values), binary)
    observed = np.abs(np.cumsum(values)[[max(end, 1) - 1 for end in ends]]) * np.array([end > 0 for end in ends])
    by_look = [_rounded(sums[:, max(end, 1) - 1]) for end in ends]
    spent = [plan.spent[number] for number in taken]
    found = 1.0
    for requested in LEVELS:
        if not _rejects(_rounded(observed), by_look, spent, requested):
            break
        found = requested
    return found


def _null(sizes: Numbers, binary: bool) -> Numbers:
    """Return the absolute sums after each pair, of all patterns under the null hypothesis."""
    patterns = _shares(len(sizes)) if binary else _signs(len(sizes))
    return np.asarray(np.abs(np.cumsum(patterns if binary else patterns * sizes, axis=1)))


@cache
def _signs(pairs: int) -> Numbers:
    if pairs <= ENUMERATED_PAIRS:
        return np.asarray(1.0 - 2.0 * ((np.arange(1 << pairs)[:, None] >> np.arange(pairs)) & 1))
    return np.random.default_rng(PATTERN_SEED).choice([-1.0, 1.0], (PATTERNS, pairs))


@cache
def _shares(pairs: int) -> Numbers:
    """Return patterns of differences of a share at its most variable: each sender has a chance of one half."""
    if 4**pairs <= PATTERNS:
        digits = (np.arange(4**pairs)[:, None] >> (2 * np.arange(pairs))) & 3
        return np.asarray(np.array([1.0, -1.0, 0.0, 0.0])[digits])
    return np.random.default_rng(PATTERN_SEED).choice([1.0, -1.0, 0.0, 0.0], (PATTERNS, pairs))


def _rounded(values: Numbers) -> Numbers:
    """Return sums of which those that are equal but for the order of their terms are equal."""
    return np.asarray(np.round(values / ROUNDING) * ROUNDING)


def _rejects(observed: Numbers, by_look: Sequence[Numbers], spent: Sequence[float], requested: float) -> bool:
    """Return whether the test of one level rejects at some look."""
    count = len(by_look[0])
    alive = np.ones(count, dtype=bool)
    for value, sums, share in zip(observed, by_look, spent, strict=True):
        room = requested * share * count + ROUNDING - (count - alive.sum())
        bound = _bound(sums[alive], room)
        if value >= bound:
            return True
        alive &= sums < bound
    return False


def _bound(sums: Numbers, room: float) -> float:
    """Return the smallest sum that at most `room` patterns reach, beyond the largest where none may."""
    values, counts = np.unique(sums, return_counts=True)
    reached = counts[::-1].cumsum()[::-1]
    allowed = values[(reached <= room) & (values > 0)]
    return float(allowed[0]) if len(allowed) else float("inf")
