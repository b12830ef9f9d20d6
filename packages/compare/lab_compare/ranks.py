# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranks of senders on one link by one measure, as intervals: from the best to the worst rank that the pairs leave.

A sender is behind those that are better and separated from it, and ahead of those that are worse and separated. Of n
senders, with a better and w worse ones, its rank is from 1 + a to n - w. As the error of all separations together is at
most alpha, so is the error of all these intervals together (Mohamad, Goeman and van Zwet, 2022: simultaneous confidence
intervals for ranks). Two senders that have not separated share a rank; a single number would hide that.

Pairs of senders are tested on the same trials (see lab.evaluation.sequential), with Holm's correction over all
pairs of a link and a measure. The interval of a difference is a paired bootstrap's, of 95 % for the pair alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lab.base.stats import AtLeast, Paired, Values, differences_of, paired
from lab.evaluation.sequential import Looks, holm, hopeless, level


@dataclass(frozen=True)
class Pair:
    """Two senders on one link by one measure: the difference, first minus second, and whether it is separated."""

    first: str
    second: str
    difference: Paired
    level: float  # the smallest level at which the sequential test rejects
    separated: bool  # after Holm's correction over all pairs
    hopeless: bool  # it has not separated, and cannot within the trials of the plan, or as both repeat one trial
    bound: bool = False  # a value is a lower bound, and so is the distance of both


@dataclass(frozen=True)
class RankedPlace:
    """A sender's rank: between the best and the worst that its separated pairs leave."""

    best: int
    worst: int


def pairs(values: Mapping[str, Values], looks: Looks, binary: bool, attempted: int | None = None) -> list[Pair]:
    """Test every pair of senders, in the order of the senders.

    attempted: of an unfinished run, up to which number all trials were run; later ones wait for their look.
    """
    differences = {
        (first, second): differences_of(values[first], values[second])[:attempted]
        for first, second in combinations(values, 2)
    }
    levels = [level(each, looks) for each in differences.values()]
    return [
        Pair(
            first,
            second,
            paired(values[first], values[second]),
            found,
            apart,
            not apart and hopeless(each, looks, binary),
            any(isinstance(value, AtLeast) for value in (*values[first], *values[second])),
        )
        for ((first, second), each), found, apart in zip(differences.items(), levels, holm(levels), strict=True)
    ]


def places(senders: Sequence[str], tested: Sequence[Pair], more_is_better: bool) -> dict[str, RankedPlace]:
    """Return each sender's rank."""
    better, worse = dict.fromkeys(senders, 0), dict.fromkeys(senders, 0)
    for pair in tested:
        if pair.separated and pair.difference.difference:  # then both have values
            first_wins = (pair.difference.difference > 0) == more_is_better
            winner, loser = (pair.first, pair.second) if first_wins else (pair.second, pair.first)
            better[loser] += 1
            worse[winner] += 1
    return {sender: RankedPlace(1 + better[sender], len(senders) - worse[sender]) for sender in senders}


def of(tested: Sequence[Pair], first: str, second: str) -> Pair | None:
    """Return the pair of two senders, whichever is first; None where it was not tested."""
    return next((pair for pair in tested if {pair.first, pair.second} == {first, second}), None)


def not_separated(tested: Sequence[Pair], subjects: Sequence[str]) -> list[Pair]:
    """Return the pairs of a subject with another sender that have common trials and have not separated."""
    return [
        pair
        for pair in tested
        if not pair.separated and pair.difference.pairs and (pair.first in subjects or pair.second in subjects)
    ]
