# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH 2.0 and 3.1 as their authors published them, integer by integer: a model of its own beside the lab's core.

Facts from TCP_SS_SEARCH_ALG of maryam-ataei: 2.0 for Linux 5.10 (earlier-versions), 3.1 for Linux 6.13 (main). Bins are
delta counts in 2.0, cumulative ones in 3.1. Times are u32, as theirs are; streams shorter than 71 minutes never wrap.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

WINDOW, SLOTS, THRESHOLD_PCT = 10, 25, 35
U32, U16_MAX = 1 << 32, 0xFFFF


class Check(NamedTuple):
    """A bin that closed; bytes of the windows where they were compared."""

    ack: int
    curr_bytes: int = 0
    prev_bytes: int = 0
    leaves: bool = False


def duration_us(rtt_us: int) -> int:
    """A tenth of 3.5 RTTs, rounded down."""
    return rtt_us * 35 // 100


def leaves(curr: int, prev: int) -> bool:
    """The difference in whole percents of what was expected, and only where that was not exceeded."""
    expected = 2 * prev
    return expected >= curr and (expected - curr) * 100 // expected >= THRESHOLD_PCT


@dataclass
class Published20:
    """SEARCH 2.0: delta counts in 25 slots."""

    bin_us: int = 0
    end_us: int = 0
    total: int = 0  # index of the open bin
    before_bytes: int = 0  # at the reset, then at the end of each bin
    bins: list[int] = field(default_factory=lambda: [0] * SLOTS)

    def on_ack(self, ack: int, now_us: int, rtt_us: int, delivered_bytes: int) -> Check | None:
        """Account an ACK; the check that it made, if it closed a bin."""
        if not self.bin_us:
            self.bin_us = duration_us(rtt_us)
            self.end_us = now_us + self.bin_us
        if now_us <= self.end_us:
            return None
        self._skip((now_us - self.end_us) // self.bin_us)
        self.bins[self.total % SLOTS] = delivered_bytes - self.before_bytes
        self.before_bytes = delivered_bytes
        check = self._check(ack, now_us, rtt_us)
        self.end_us += self.bin_us
        self.total += 1
        self.bins[self.total % SLOTS] = 0
        return check

    def _skip(self, missed: int) -> None:
        self.total += missed
        self.end_us += missed * self.bin_us
        if missed:
            for back in range(min(missed + 1, SLOTS)):
                self.bins[(self.total - back) % SLOTS] = 0

    def _window(self, last: int) -> int:
        return sum(self.bins[index % SLOTS] for index in range(last - WINDOW + 1, last + 1))

    def _check(self, ack: int, now_us: int, rtt_us: int) -> Check:
        back = rtt_us // self.bin_us
        last = self.total - back
        if last < WINDOW or (SLOTS - back) % U32 < WINDOW:  # unsigned: beyond 25 the difference is huge
            return Check(ack)
        curr, prev = self._window(self.total), self._interpolated(last, back, now_us - rtt_us)
        return Check(ack, curr, prev, leaves(curr, prev)) if prev else Check(ack)

    def _interpolated(self, last: int, back: int, then_us: int) -> int:
        left, right = self._window(last - 1), self._window(last)
        left_us = self.end_us - (back + 1) * self.bin_us
        proportion = (then_us - left_us) // self.bin_us  # 0 or 1: an integer
        return left + proportion * (right - left) if left != right else 0


@dataclass
class Published31:
    """SEARCH 3.1: cumulative counts of 16 bits, of the flow's whole count, with one shift for all."""

    bin_us: int = 0
    end_us: int = 0
    newest: int = -1
    shift: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * SLOTS)

    def on_ack(self, ack: int, now_us: int, rtt_us: int, delivered_bytes: int, limited: bool = False) -> Check | None:
        """Account an ACK; the check that it made, if it closed a bin."""
        if self.newest < 0:
            self._begin(now_us, rtt_us, delivered_bytes)
            return None
        if now_us < self.end_us:
            return None
        if limited:
            self.counts, self.shift = [0] * SLOTS, 0
            self._begin(now_us, rtt_us, delivered_bytes)
            return Check(ack)
        self._close((now_us - self.end_us) // self.bin_us + 1, delivered_bytes)
        return self._check(ack, rtt_us)

    def _begin(self, now_us: int, rtt_us: int, delivered_bytes: int) -> None:
        self.bin_us = self.bin_us or duration_us(rtt_us)
        self.end_us = now_us + self.bin_us
        self.newest = 0
        self.counts[0] = self._scaled(delivered_bytes)

    def _scaled(self, delivered_bytes: int) -> int:
        more = max((delivered_bytes >> self.shift).bit_length() - U16_MAX.bit_length(), 0)
        self.shift += more
        self.counts = [count >> more for count in self.counts]
        return delivered_bytes >> self.shift

    def _close(self, passed: int, delivered_bytes: int) -> None:
        last = self.counts[self.newest % SLOTS]
        for index in range(self.newest + 1, self.newest + min(passed, SLOTS)):
            self.counts[index % SLOTS] = last
        if passed > SLOTS:
            self.counts = [last] * SLOTS
        self.end_us += passed * self.bin_us
        self.newest += passed
        self.counts[self.newest % SLOTS] = self._scaled(delivered_bytes)

    def _window(self, last: int, fraction_pct: int) -> int:
        first = last - WINDOW
        at = [self.counts[index % SLOTS] for index in (first - 1, first, last - 1, last)]
        before = at[0] if first else 0  # the first count stands for all before it
        return at[2] - at[1] + (at[1] - before) * fraction_pct // 100 + (at[3] - at[2]) * (100 - fraction_pct) // 100

    def _check(self, ack: int, rtt_us: int) -> Check:
        back = rtt_us // self.bin_us
        if self.newest - back < WINDOW or back >= SLOTS - WINDOW - 1:
            return Check(ack)
        curr = self._window(self.newest, 0)
        prev = self._window(self.newest - back, rtt_us % self.bin_us * 100 // self.bin_us)
        return Check(ack, curr << self.shift, prev << self.shift, leaves(curr, prev)) if prev else Check(ack)


MODELS: dict[str, type[Published20] | type[Published31]] = {"search2": Published20, "search31": Published31}


def checks(model: Published20 | Published31, rows: Iterable[tuple[Any, ...]]) -> Iterator[Check]:
    """What a model decides on (time, RTT, delivered, ...) of ACKs; those without an RTT sample are skipped."""
    for ack, row in enumerate(rows):
        check = model.on_ack(ack, *row) if row[1] > 0 else None
        if check:
            yield check
