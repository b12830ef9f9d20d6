# SPDX-License-Identifier: GPL-2.0-or-later
"""What the changes prove wrong: too few are noticed, a survivor is not listed, or a listed one is noticed."""

from collections.abc import Iterable, Iterator

import scipy

from bench.mutants import survivors
from bench.mutants.rooms import Tally
from lab.base.stats import wilson_pct

REQUIRED = 0.85
CHANCE = 0.01  # that a commit of just the required share fails


def of_rooms(found: Iterable[Tally], *, is_whole: bool) -> Iterator[str]:
    """Yield a line for each room under the required share, each unlisted survivor, and each listed one that is none.

    A sample is under it where the share's 95 % interval is: few changes do not show more.
    """
    for tally in found:
        if not _is_enough(len(tally.noticed), len(tally.unlisted), is_whole=is_whole):
            yield f"lab/{tally.room}: noticed={tally.share:.1%}: must be at least {REQUIRED:.0%}"
        yield from _stale(tally)
        if is_whole:
            yield from (f"not listed: {key}" for key in tally.unlisted)


def of_commit(found: Iterable[Tally]) -> Iterator[str]:
    """Yield a line where so many survived of all rooms together that the required share is implausible.

    Five changes of one room show nothing, and six such rooms would fail by chance.
    """
    tally = together(found)
    most = most_unnoticed(tally.counted)
    if len(tally.unlisted) > most:
        yield (
            f"all rooms: unnoticed={len(tally.unlisted)}: must be at most {most} of {tally.counted}: "
            f"more are {CHANCE:.0%} likely where {REQUIRED:.0%} are noticed"
        )
    yield from _stale(tally)


def together(found: Iterable[Tally]) -> Tally:
    """Return the changes of all rooms as those of one."""
    every = Tally("all rooms", 0)
    for tally in found:
        every.possible += tally.possible
        every.survivors += tally.survivors
        every.noticed += tally.noticed
    return every


def most_unnoticed(counted: int) -> int:
    """Return how many of so many changes may be unnoticed: more have a probability of at most CHANCE at REQUIRED."""
    return int(scipy.stats.binom.ppf(1 - CHANCE, counted, 1 - REQUIRED)) if counted else 0


def _stale(tally: Tally) -> Iterator[str]:
    listed = survivors.known()
    yield from (f"listed, but noticed now: {key}" for key in tally.noticed if key in listed)


def _is_enough(noticed: int, missed: int, *, is_whole: bool) -> bool:
    if is_whole:
        return noticed >= REQUIRED * (noticed + missed)
    _, most_pct = wilson_pct(noticed, noticed + missed)
    return most_pct is None or most_pct >= 100 * REQUIRED
