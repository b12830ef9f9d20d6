# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranks of senders on one link by one measure: a sender is behind those that it has separated from, else tied.

Pairs of senders are tested on the same trials (see lab.evaluation.compare.sequential), with Holm's correction over all
pairs of a link and a measure. The interval of a difference is a paired bootstrap's, of 95 % for the pair alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lab.base.stats import Paired, paired
from lab.evaluation.compare.sequential import ALPHA, Looks, level

Values = Sequence[float | None]  # of a sender, by trial from the first on


@dataclass(frozen=True)
class Pair:
    """Two senders on one link by one measure: the difference, first minus second, and whether it is separated."""

    first: str
    second: str
    difference: Paired
    level: float  # the smallest level at which the sequential test rejects
    separated: bool  # after Holm's correction over all pairs


@dataclass(frozen=True)
class Place:
    """A sender's place: `ahead` senders are separated from it and better; it shares its rank with `ties` others."""

    rank: int
    ties: int


def pairs(values: Mapping[str, Values], looks: Looks, binary: bool, attempted: int | None = None) -> list[Pair]:
    """Test every pair of senders, in the order of the senders.

    attempted: of an unfinished run, up to which number all trials were run; later ones wait for their look.
    """
    tested = []
    for first, second in combinations(values, 2):
        differences = [
            None if a is None or b is None else a - b for a, b in zip(values[first], values[second], strict=True)
        ]
        tested.append((first, second, level(differences[:attempted], looks, binary)))
    separated = holm([found for _, _, found in tested])
    return [
        Pair(first, second, paired(values[first], values[second]), found, apart)
        for (first, second, found), apart in zip(tested, separated, strict=True)
    ]


def holm(levels: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Return which hypotheses Holm's procedure rejects: the smallest is held against alpha over their number."""
    order = sorted(range(len(levels)), key=lambda place: levels[place])
    rejected = [False] * len(levels)
    for step, place in enumerate(order):
        if levels[place] > alpha / (len(levels) - step) * (1 + 1e-9):
            break
        rejected[place] = True
    return rejected


def places(senders: Sequence[str], tested: Sequence[Pair], more_is_better: bool) -> dict[str, Place]:
    """Return each sender's rank: one more than the senders that are better and separated from it."""
    behind = dict.fromkeys(senders, 0)
    for pair in tested:
        if pair.separated and pair.difference.difference:  # then both have values
            first_wins = (pair.difference.difference > 0) == more_is_better
            behind[pair.second if first_wins else pair.first] += 1
    ranks = {sender: count + 1 for sender, count in behind.items()}
    return {sender: Place(rank, list(ranks.values()).count(rank) - 1) for sender, rank in ranks.items()}


def of(tested: Sequence[Pair], first: str, second: str) -> Pair | None:
    """Return the pair of two senders, whichever is first; None where it was not tested."""
    return next((pair for pair in tested if {pair.first, pair.second} == {first, second}), None)


def undecided(tested: Sequence[Pair], subjects: Sequence[str]) -> list[Pair]:
    """Return the pairs of a subject with another sender that have not separated."""
    return [pair for pair in tested if not pair.separated and (pair.first in subjects or pair.second in subjects)]
