# SPDX-License-Identifier: GPL-2.0-or-later
"""Algorithm 1 over a stream of ACKs, and the ways in which it is usually misread: to name a student's mistake."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

W, EXTRA_BINS, THRESH_PCT = 10, 15, 35
NUM_BINS = W + EXTRA_BINS
WRAP = 1 << 64  # what an unsigned number of 64 bits makes of -1 is WRAP - 1


Ack = tuple[int, int, int]  # time and RTT sample in microseconds, all bytes that were delivered so far


class Row(NamedTuple):
    """What became of a bin's end; curr, prev and exit are 0 where nothing was compared."""

    bin: int
    bin_us: int
    compared: bool
    curr: int
    prev: int
    exit: bool


@dataclass(frozen=True)
class Reading:
    """How one reads the paper; the defaults are right. `advice` names what to change."""

    advice: str = ""
    window_pct: int = 350  # of the initial RTT
    divisor: int = W
    shift: Literal["past", "future", "none"] = "past"
    windows_bins: int = W
    gap: Literal["empty", "newest too", "kept"] = "empty"
    needed_bins: int = W
    oldest: int = EXTRA_BINS
    exit: Literal["doubled", "not doubled", "of current", "unsigned", "reversed"] = "doubled"


RIGHT = Reading()
MISREADINGS = tuple(
    replace(RIGHT, advice=advice, **changes)  # type: ignore[arg-type]
    for advice, changes in (
        ("The window is 3.5 initial RTTs, not 3 (line 1): multiply by 35 and divide by 10 W.", {"window_pct": 300}),
        ("The window is 3.5 initial RTTs, not one (line 1).", {"window_pct": 100}),
        ("A bin is the window divided by W, not by NUM_BINS (line 5).", {"divisor": NUM_BINS}),
        (
            "The earlier window is not interpolated: it ends rest_us before a bin's end (lines 15, 35, 36).",
            {"shift": "none"},
        ),
        (
            "The interpolation goes the wrong way, towards the present: the earlier window moves into the past.",
            {"shift": "future"},
        ),
        (
            "A window has 10 bins, you add up 9: count the bins of line 33 with the two at its ends.",
            {"windows_bins": W - 1},
        ),
        ("A window has 10 bins, you add up 11.", {"windows_bins": W + 1}),
        (
            "Missed bins wipe the newest full bin (the loop of line 25 as printed begins one too early).",
            {"gap": "newest too"},
        ),
        (
            "Missed bins must be emptied: what an older round of the ring left in them is counted again.",
            {"gap": "kept"},
        ),
        ("You compare too soon: the earlier window must have W bins (line 13).", {"needed_bins": W - 1}),
        ("You compare too late: prev_idx = W is enough (line 13).", {"needed_bins": W + 1}),
        (
            "With a fraction the window touches one bin more, which the newest has overwritten.",
            {"oldest": EXTRA_BINS + 1},
        ),
        ("You give up too soon: a look-back of up to 15 bins is in the ring.", {"oldest": EXTRA_BINS - 1}),
        ("Twice what was delivered one RTT ago is expected (line 17): you left out the 2.", {"exit": "not doubled"}),
        ("The difference is divided by what was expected, 2 prev, not by curr (line 17).", {"exit": "of current"}),
        (
            "2 prev - curr is unsigned: where curr is larger it wraps to a huge number, and you leave too soon.",
            {"exit": "unsigned"},
        ),
        (
            "The comparison is reversed: slow start ends when the difference is 35 % or more (line 18).",
            {"exit": "reversed"},
        ),
    )
)


def run(acks: Iterable[Ack], reading: Reading = RIGHT) -> Iterator[Row]:
    """Yield one row per ACK that ends a bin, as tcp_search_paper.c prints it."""
    stream = iter(acks)
    start_us, initial_rtt_us, before = next(stream)
    bin_us = max(initial_rtt_us * reading.window_pct // (100 * reading.divisor), 1)
    end_us, newest = start_us + bin_us, -1
    ring = [0] * NUM_BINS
    for now_us, rtt_us, delivered in stream:
        if now_us <= end_us:
            continue
        passed = (now_us - end_us) // bin_us + 1
        end_us += passed * bin_us
        _empty(ring, newest, passed, reading)
        newest += passed
        ring[newest % NUM_BINS] = delivered - before
        before = delivered
        yield _decide(ring, newest, rtt_us, bin_us, reading)


def _empty(ring: list[int], newest: int, passed: int, reading: Reading) -> None:
    """Empty the bins that passed without an ACK."""
    if reading.gap == "kept":
        return
    for index in range(newest + (reading.gap == "empty"), newest + min(passed, NUM_BINS + 1)):
        ring[index % NUM_BINS] = 0


def _decide(ring: list[int], newest: int, rtt_us: int, bin_us: int, reading: Reading) -> Row:
    back, rest_us = divmod(rtt_us, bin_us)
    if newest - back < reading.needed_bins or back + (rest_us > 0) > reading.oldest:
        return Row(newest, bin_us, False, 0, 0, False)
    curr = _window(ring, newest, 0, bin_us, reading)
    prev = _window(ring, newest - back, rest_us, bin_us, reading)
    return Row(newest, bin_us, True, curr, prev, _exit(curr, prev, reading))


def _window(ring: list[int], last: int, rest_us: int, bin_us: int, reading: Reading) -> int:
    """Add up the bins of a window that ended rest_us before the end of bin `last`."""
    whole = sum(ring[index % NUM_BINS] for index in range(last - reading.windows_bins + 1, last))
    newest, oldest = ring[last % NUM_BINS], ring[(last - reading.windows_bins) % NUM_BINS]
    if not rest_us or reading.shift == "none":
        return whole + newest
    if reading.shift == "future":
        first, beyond = ring[(last - reading.windows_bins + 1) % NUM_BINS], ring[(last + 1) % NUM_BINS]
        return whole - first + newest + (first * (bin_us - rest_us) + beyond * rest_us) // bin_us
    return whole + (oldest * rest_us + newest * (bin_us - rest_us)) // bin_us


def _exit(curr: int, prev: int, reading: Reading) -> bool:
    expected = prev if reading.exit == "not doubled" else 2 * prev
    if not prev:
        return False
    short = expected - curr
    if reading.exit == "unsigned":
        return 100 * (short % WRAP) % WRAP >= THRESH_PCT * expected
    over = THRESH_PCT * (curr if reading.exit == "of current" else expected)
    return 100 * short < over if reading.exit == "reversed" else 100 * short >= over
