# SPDX-License-Identifier: GPL-2.0-or-later
"""One test of iperf3's JSON: its intervals, and what may be believed of them."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import field_error
from lab.traces.columns import FASTEST_MBPS, LONGEST_S
from lab.traces.importers.reading.documents import Node
from lab.traces.importers.reading.ramp import ramp_intervals
from lab.traces.importers.reading.text import short

Numbers = NDArray[np.float64]
GOODPUT = "TCP goodput: a lower bound of the capacity, shaped by the sender's congestion control."
RAMP_KEPT = "The download's ramp is not cut: where a test began is not in the file."
USER = "The {} is taken to be the link's user, which makes the direction."
LATEST_S = 1e11
ALIKE = 0.9  # a sender's intervals are believed where at least this share of what was sent is known to have arrived


@dataclass(frozen=True)
class Test:
    """A test's intervals; none where it failed."""

    number: int
    clock_s: float | None
    udp: bool
    column: str  # of its rates
    from_client: bool  # who sent, and whose intervals these then are
    starts_s: Numbers
    ends_s: Numbers
    rates_mbps: Numbers
    more: dict[str, pl.Series]  # other columns
    notes: tuple[str, ...]

    def frame(self, offset_s: float) -> pl.DataFrame:
        """Lay the intervals out, ended by a row without values."""
        rows = pl.DataFrame({"t_s": self.starts_s + offset_s, self.column: self.rates_mbps, **self.more})
        return pl.concat([rows, pl.DataFrame({"t_s": [self.ends_s[-1] + offset_s]})], how="diagonal")

    def without(self, leading: int) -> "Test":
        """Leave the first intervals out."""
        more = {name: column[leading:] for name, column in self.more.items()}
        starts, ends, rates = (values[leading:] for values in (self.starts_s, self.ends_s, self.rates_mbps))
        return replace(self, starts_s=starts, ends_s=ends, rates_mbps=rates, more=more)


def cut_ramps(tests: list[Test]) -> tuple[list[Test], str]:
    """Take each test's own slow start away, and return how much that was."""
    cut = [ramp_intervals(test.rates_mbps, test.ends_s) for test in tests]
    gone_s = [float(test.ends_s[n - 1] - test.starts_s[0]) if n else 0.0 for test, n in zip(tests, cut, strict=True)]
    words = f"{sum(cut)} intervals, {sum(gone_s):.1f} s in {len(tests)} tests (at most {max(gone_s):.1f} s in one)"
    return [test.without(n) for test, n in zip(tests, cut, strict=True)], words


def check_choices(path: Path, ramp: str, user: str) -> None:
    """Refuse options that are none."""
    for field, value, known in (("ramp", ramp, ("cut", "keep")), ("user", user, ("client", "server"))):
        if value not in known:
            raise field_error(path, field, value, " or ".join(known))


def rate_column(reverse: bool, user: str) -> str:
    """Return the direction: a reverse test flows from the server to the client."""
    return "rate_down_mbps" if reverse == (user == "client") else "rate_up_mbps"


def read_test(document: Node, number: int, user: str) -> Test:
    """Read one document; a failed test has no intervals and a note with the reason."""
    start, intervals = document.at("start"), list(document.at("intervals").items())
    stamp = start.get("timestamp")
    clock_s = stamp.at("timesecs").number(0, LATEST_S) if stamp else None
    failed = _why_failed(document, intervals)
    none = np.empty(0)
    if failed:
        return Test(number, clock_s, False, "", False, none, none, none, {}, (f"Test {number} left out: {failed}.",))
    options = start.at("test_start")
    udp = options.at("protocol").value == "UDP"
    reverse = _reverse(options)
    sums = [one.at("sum") for one in intervals if not (flag := one.at("sum").get("omitted")) or flag.value is not True]
    starts, ends = (np.array([one.at(key).number(0, LONGEST_S) for one in sums]) for key in ("start", "end"))
    rates = np.array([one.at("bits_per_second").number(0, FASTEST_MBPS * 1e6) / 1e6 for one in sums])
    _check_times(document, sums, starts, ends)
    return Test(number, clock_s, udp, rate_column(reverse, user), not reverse, starts, ends, rates, _more(sums), ())


def _reverse(options: Node) -> bool:
    both = options.get("bidirectional")
    if both is not None and both.value not in (0, False):
        raise both.refuse("0: tests of both directions at once are not read")
    reverse = options.get("reverse")
    return reverse is not None and reverse.value in (1, True)


def _why_failed(document: Node, intervals: list[Node]) -> str:
    error = document.get("error")
    if error is not None:
        return f"iperf3 ended with '{short(error.value)}'"
    if not intervals or not document.at("end").value:
        return "it has no intervals" if not intervals else "it has no end"
    return ""


def _check_times(document: Node, sums: list[Node], starts: Numbers, ends: Numbers) -> None:
    if not sums:
        raise document.at("intervals").refuse("a list with intervals that were not omitted")
    wrong = np.flatnonzero((ends <= starts) | (np.diff(starts, prepend=-1.0) <= 0))
    if len(wrong):
        raise sums[wrong[0]].at("start").refuse("later than in the interval before, and earlier than its end")


def _more(sums: list[Node]) -> dict[str, pl.Series]:
    found = {}
    retransmits = [node.whole(0, 2**32 - 1) for one in sums if (node := one.get("retransmits"))]
    if len(retransmits) == len(sums):
        found["retransmits_pkts"] = pl.Series(retransmits, dtype=pl.UInt32)
    lost = [node.number(0, 100) for one in sums if (node := one.get("lost_percent"))]
    if len(lost) == len(sums):
        found["loss_pct"] = pl.Series(lost, dtype=pl.Float64)
    return found


def believed(tests: list[tuple[Node, Test]]) -> list[Test]:
    """Replace senders' own intervals by the receivers' means where in one test much less arrived than was sent.

    A proxy in the path takes data faster than the link carries it and answers the sender itself; what it did in one
    test it may have done in each.
    """
    totals = [_arrived(document, test) for document, test in tests]
    proxied = any(sent > 0 and got < ALIKE * sent for sent, got, _ in totals)
    return [
        _mean(test, *total) if proxied and total[0] else test for (_, test), total in zip(tests, totals, strict=True)
    ]


def _arrived(document: Node, test: Test) -> tuple[float, float, float]:
    """Return what a TCP test that sent reports as sent and received (bytes), and by when (s); zeros of any other."""
    if not len(test.rates_mbps) or not test.from_client or test.udp:
        return 0.0, 0.0, 0.0
    end = document.at("end")
    sent, received = end.get("sum_sent"), end.get("sum_received")
    if sent is None or received is None:
        return 0.0, 0.0, 0.0
    return sent.at("bytes").number(), received.at("bytes").number(), received.at("end").number(0, LONGEST_S)


def _mean(test: Test, sent_bytes: float, got_bytes: float, seconds: float) -> Test:
    if got_bytes == 0 or seconds <= 0:
        note = f"Test {test.number} left out: the receiver's report never came, and the sender's is a proxy's."
        return replace(test, starts_s=np.empty(0), ends_s=np.empty(0), rates_mbps=np.empty(0), more={}, notes=(note,))
    note = (
        f"Test {test.number}: {sent_bytes / 1e6:.2f} MB sent, {got_bytes / 1e6:.2f} MB received: its intervals are a "
        "proxy's; the receiver's mean, ramp included, stands for all of it."
    )
    mean = np.array([got_bytes * 8 / 1e6 / seconds])
    return replace(test, starts_s=np.array([0.0]), ends_s=np.array([seconds]), rates_mbps=mean, more={}, notes=(note,))
