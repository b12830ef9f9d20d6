# SPDX-License-Identifier: GPL-2.0-or-later
"""One test of iperf3's JSON: its intervals, and what may be believed of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.traces.columns import FASTEST_MBPS, LONGEST_S
from lab_formats.reading.documents import INFINITE, Node
from lab_formats.reading.text import short

# The recorder's own slow start: how much of a TCP test's beginning is not the link's doing.
LONGEST_RAMP_S = 15.0  # GEO reaches capacity after 11.8 s (thesis, table 5.1); nothing ramps longer
RAMP_SHARE = 0.8  # of the usual rate: an interval that reaches it holds no more than the end of the last doubling
RULE = (
    f"until the first interval that reaches {RAMP_SHARE:.0%} of the median of the test's second half, at most half of "
    f"the test and {LONGEST_RAMP_S:g} s"
)
Numbers = NDArray[np.float64]
GOODPUT = "TCP goodput: a lower bound of the capacity, shaped by the sender's congestion control."
UDP_MEANS = "UDP: what arrived is the capacity only where more was sent than arrived; the file does not show which."
RAMP_KEPT = "The download's ramp is not cut: where a test began is not in the file."
TWO_WAY = "A two-way test: both directions at the same time, so each also carries the other's ACKs."
USER = "The {} is taken to be the link's user, which makes the direction."
OMITTED = "The first interval after the omitted ones begins at 0, where iperf3 restarts its clock (it wrote {:g} s)."
LATEST_S = 1e11
HAIR = 0.1  # of the usual interval: a last one that is shorter is where the clock ran over, and its rate means nothing
ODD = 0.2  # of what was carried: rate times time is otherwise as near to it as three digits are
OTHER_WAY = {"rate_down_mbps": "rate_up_mbps", "rate_up_mbps": "rate_down_mbps"}
REVERSE = "sum_bidir_reverse"  # the sum of what flows from the server, in a two-way test


def ramp_intervals(rates_mbps: NDArray[np.float64], ends_s: NDArray[np.float64]) -> int:
    """Return how many leading intervals of a test are its sender's ramp; `ends_s` count from the test's begin."""
    half = len(rates_mbps) // 2
    if half == 0:
        return 0
    reached = np.flatnonzero(rates_mbps >= RAMP_SHARE * np.median(rates_mbps[half:]))
    most = min(half, int(np.searchsorted(ends_s, LONGEST_RAMP_S, side="right")))
    return min(int(reached[0]), most)


@dataclass(frozen=True)
class Test:
    """A test's intervals; none where it failed."""

    number: int
    clock_s: float | None
    udp: bool
    column: str  # of its rates
    sent: bool  # the intervals are the sender's
    starts_s: Numbers
    ends_s: Numbers
    rates_mbps: Numbers
    more: dict[str, pl.Series]  # other columns
    notes: tuple[str, ...]

    @property
    def every_rate(self) -> list[Numbers]:
        return [self.rates_mbps, *(more.to_numpy() for name, more in self.more.items() if name in OTHER_WAY)]

    def frame(self, offset_s: float) -> pl.DataFrame:
        """Lay the intervals out; a row without values begins each hole, and ends the last one."""
        rows = pl.DataFrame({"t_s": self.starts_s + offset_s, self.column: self.rates_mbps, **self.more})
        ends_s = self.ends_s[[*_holes(self.starts_s, self.ends_s), len(self.ends_s) - 1]]
        return pl.concat([rows, pl.DataFrame({"t_s": ends_s + offset_s})], how="diagonal").sort("t_s")

    def without(self, leading: int) -> "Test":
        """Leave the first intervals out."""
        more = {name: column[leading:] for name, column in self.more.items()}
        starts, ends, rates = (values[leading:] for values in (self.starts_s, self.ends_s, self.rates_mbps))
        return replace(self, starts_s=starts, ends_s=ends, rates_mbps=rates, more=more)


def cut_ramps(tests: list[Test]) -> tuple[list[Test], str]:
    """Take each test's own slow start away, and return how much that was."""
    cut = [max(ramp_intervals(rates, test.ends_s) for rates in test.every_rate) for test in tests]
    gone_s = [float(test.ends_s[n - 1] - test.starts_s[0]) if n else 0.0 for test, n in zip(tests, cut, strict=True)]
    words = f"{sum(cut)} intervals, {sum(gone_s):.1f} s in {len(tests)} tests (at most {max(gone_s):.1f} s in one)"
    return [test.without(n) for test, n in zip(tests, cut, strict=True)], words


def rate_column(reverse: bool, user: str) -> str:
    """Return the direction: a reverse test flows from the server to the client."""
    return "rate_down_mbps" if reverse == (user == "client") else "rate_up_mbps"


def read_test(document: Node, number: int, user: str) -> Test:
    """Read one document; a failed test has no intervals and a note with the reason."""
    start, intervals = document.at("start"), list(document.at("intervals").items())
    stamp = start.get("timestamp")
    clock_s = stamp.at("timesecs").number(0, LATEST_S) if stamp else None
    error = document.get("error")
    failed = _why_failed(document, intervals, error)
    none = np.empty(0)
    if failed:
        return Test(number, clock_s, False, "", False, none, none, none, {}, (f"Test {number} left out: {failed}.",))
    options = start.at("test_start")
    udp = options.at("protocol").value == "UDP"
    reverse = _is_set(options, "reverse")
    kept = [one for one in intervals if not _is_set(one.at("sum"), "omitted")]
    sums = [one.at("sum") for one in kept]
    starts, ends = (np.array([one.at(key).number(0, LONGEST_S) for one in sums]) for key in ("start", "end"))
    late = bool(kept) and len(kept) < len(intervals) and _begins_late(sums[0], starts[0], ends[0])
    words = [OMITTED.format(starts[0])] if late else []
    starts[: int(late)] = 0.0
    _check_times(document, sums, starts, ends)
    column = rate_column(reverse, user)
    two_way = any(_is_set(options, name) for name in ("bidir", "bidirectional")) or any(
        one.get(REVERSE) for one in kept
    )
    if two_way:
        more, found = {OTHER_WAY[column]: pl.Series(_rates([one.at(REVERSE) for one in kept], late))}, [TWO_WAY]
    else:
        more, found = _more(sums)
    sent = reverse == (start.get("accepted_connection") is not None)
    until = (
        [f"Test {number}: iperf3 ended with '{short(error.value)}': its intervals until then count."] if error else []
    )
    notes = (*found, *words, *until, *_missing(number, starts, ends))
    test = Test(number, clock_s, udp, column, sent, starts, ends, _rates(sums, late), more, notes)
    return _without_hair(test)


def _is_set(node: Node, key: str) -> bool:
    flag = node.get(key)
    return flag is not None and flag.value in (1, True)


def is_late(start_s: float, end_s: float, rate_mbps: float, size_mbit: float) -> bool:
    """Return whether an interval after the omitted ones has the begin of the clock before its restart.

    Its rate then is of no interval: the bytes are those since the restart, the time is that since the begin as written.
    """
    length_s = end_s - start_s
    odd = start_s > 0 and abs(size_mbit - rate_mbps * length_s) > ODD * size_mbit > 0
    return bool(length_s < HAIR * end_s or odd)


def _begins_late(first: Node, start_s: float, end_s: float) -> bool:
    rate_mbps, carried = first.at("bits_per_second").number(0, INFINITE) / 1e6, first.get("bytes")
    size_mbit = carried.number(0, INFINITE) * 8 / 1e6 if carried else 0.0
    return is_late(start_s, end_s, rate_mbps, size_mbit)


def _rates(sums: list[Node], late: bool) -> Numbers:
    """Return the rates in Mb/s; of a first interval whose begin is late, by its bytes and its end."""
    rates = np.array([one.at("bits_per_second").number(0, FASTEST_MBPS * 1e6) / 1e6 for one in sums])
    if late:
        rates[0] = sums[0].at("bytes").number() * 8 / 1e6 / sums[0].at("end").number()
    return rates


def _without_hair(test: Test) -> Test:
    """Leave out a last interval that is far shorter than the others."""
    lengths_s = test.ends_s - test.starts_s
    if len(lengths_s) < 2 or lengths_s[-1] >= HAIR * np.median(lengths_s):
        return test
    note = f"Test {test.number}: its last interval, of {lengths_s[-1]:.6f} s, left out."
    more = {name: column[:-1] for name, column in test.more.items()}
    starts, ends, rates = (values[:-1] for values in (test.starts_s, test.ends_s, test.rates_mbps))
    return replace(test, starts_s=starts, ends_s=ends, rates_mbps=rates, more=more, notes=(*test.notes, note))


def _why_failed(document: Node, intervals: list[Node], error: Node | None) -> str:
    """Return why a test has nothing to read; one that was interrupted has what it carried until then."""
    if error is not None:
        carried = any(one.at("sum", "bits_per_second").number() for one in intervals)
        return "" if carried else f"iperf3 ended with '{short(error.value)}'"
    if not intervals or not document.at("end").value:
        return "it has no intervals" if not intervals else "it has no end"
    return ""


def _check_times(document: Node, sums: list[Node], starts: Numbers, ends: Numbers) -> None:
    if not sums:
        raise document.at("intervals").refuse("a list with intervals that were not omitted")
    wrong = np.flatnonzero((ends <= starts) | (np.diff(starts, prepend=-1.0) <= 0))
    if len(wrong):
        raise sums[wrong[0]].at("start").refuse("later than in the interval before, and earlier than its end")
    early = np.flatnonzero(starts[1:] < ends[:-1] - HAIR * np.median(ends - starts)) + 1
    if len(early):
        raise sums[early[0]].at("start").refuse("no earlier than the end of the interval before")


def _holes(starts: Numbers, ends: Numbers) -> NDArray[np.int64]:
    """Return the intervals behind which one or more are missing."""
    return np.flatnonzero(starts[1:] - ends[:-1] > HAIR * np.median(ends - starts))


def _missing(number: int, starts: Numbers, ends: Numbers) -> list[str]:
    """Return a note on the holes between a test's intervals."""
    holes = _holes(starts, ends)
    hole_s = float(np.sum(starts[holes + 1] - ends[holes]))
    return [f"Test {number}: {len(holes)} holes between its intervals, {hole_s:.1f} s: missing."] if len(holes) else []


def _more(sums: list[Node]) -> tuple[dict[str, pl.Series], list[str]]:
    """Return the other columns that every interval has, and a note on shares of loss that are none."""
    found, notes = {}, []
    retransmits = [node.whole(0, 2**32 - 1) for one in sums if (node := one.get("retransmits"))]
    if len(retransmits) == len(sums):
        found["retransmits_pkts"] = pl.Series(retransmits, dtype=pl.UInt32)
    lost = [node for one in sums if (node := one.get("lost_percent"))]
    if len(lost) == len(sums):
        shares = [None if node.value is None else node.number(-INFINITE) for node in lost]  # null: of no packets
        found["loss_pct"], more = loss_column(shares)
        notes += more
    return found, notes


def loss_column(shares: Sequence[float | None]) -> tuple[pl.Series, list[str]]:
    """Return the shares of loss in %, those that are none missing, and a note on them."""
    stated = pl.Series(shares, dtype=pl.Float64)
    column = pl.select(pl.when(stated.is_between(0, 100)).then(stated).alias("loss_pct")).to_series()
    missing = column.null_count()
    words = f"{missing} intervals state no loss from 0 to 100 % (no packets, or a bug of iperf3): theirs is missing."
    return column, [words] if missing else []
