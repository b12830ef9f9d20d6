# SPDX-License-Identifier: GPL-2.0-or-later
"""What arrived, where the intervals of an iperf3 test are those of the end that sent."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from lab.traces.columns import LONGEST_S
from lab_formats.reading.documents import Node
from lab_formats.reading.iperf3_tests import Test

ALIKE = 0.9  # a TCP sender's intervals are believed where at least this share of what was sent is known to have arrived


WRITTEN = (
    "Its intervals are what the sender wrote to its socket, whose buffer fills first: "
    "early ones may exceed what arrived."
)


@dataclass(frozen=True)
class Totals:
    """A test's sums at its end: what was sent and received, when the receiver ended, and the share that was lost."""

    sent_bytes: float
    got_bytes: float
    seconds: float
    lost_pct: float | None = None


def believed(tests: list[tuple[Test, Totals | None]]) -> list[Test]:
    """Replace senders' own intervals by the receivers' means where they are not what arrived.

    TCP: a proxy in the path takes data faster than the link carries it and answers the sender itself; what it did in
    one test it may have done in each. Of an interrupted test the receiver's report never comes, which shows nothing.
    UDP: nothing holds a sender to what the link carries.
    """
    proxied = any(total and not test.udp and 0 < total.got_bytes < ALIKE * total.sent_bytes for test, total in tests)
    return [_arrived(test, total, proxied) for test, total in tests]


def written(tests: list[Test]) -> list[str]:
    """Return a note where intervals of a TCP sender stand for what arrived."""
    return [WRITTEN] * any(test.sent and not test.udp and len(set(test.rates_mbps)) > 1 for test in tests)


def totals_of(document: Node, test: Test) -> Totals | None:
    """Return the sums of a test of which a client's intervals are the sender's; None of any other, or without sums."""
    if not len(test.rates_mbps) or not test.sent or document.at("start").get("accepted_connection"):
        return None  # a server does not learn what its client received
    if test.udp and document.get("error"):
        return None  # nor does a client that was interrupted
    end = document.at("end")
    sent, received, both = (end.get(name) for name in ("sum_sent", "sum_received", "sum"))
    if sent is not None and received is not None:
        seconds = received.at("end").number(0, LONGEST_S)
        sums = sent.at("bytes").number(), received.at("bytes").number(), seconds
        return Totals(*sums, _lost_pct(received) if test.udp else None) if sums[0] > 0 else None
    if test.udp and both is not None and (lost_pct := _lost_pct(both)) is not None:
        sent_bytes, seconds = both.at("bytes").number(), both.at("end").number(0, LONGEST_S)
        return Totals(sent_bytes, sent_bytes * (1 - lost_pct / 100), seconds, lost_pct)
    return None


def _lost_pct(total: Node) -> float | None:
    lost = total.get("lost_percent")
    value = None if lost is None else lost.number(-float("inf"))
    return value if value is not None and 0 <= value <= 100 else None


def _arrived(test: Test, total: Totals | None, proxied: bool) -> Test:
    if not len(test.rates_mbps) or not test.sent:
        return test
    if test.udp:
        if total is None:
            note = f"Test {test.number}: what was sent, for the file does not state what arrived."
            return replace(test, notes=(*test.notes, note))
        return (
            _mean(test, total, "they state what was sent, not what arrived")
            if total.lost_pct or total.got_bytes < total.sent_bytes
            else test
        )
    return _mean(test, total, "they are a proxy's or a socket buffer's") if proxied and total else test


def _mean(test: Test, total: Totals, why: str) -> Test:
    """Let the receiver's mean stand for a whole test; the other direction of a two-way test stays."""
    if total.seconds <= 0 or (total.got_bytes == 0 and not test.udp):
        note = f"Test {test.number} left out: the receiver's report never came, and the sender's is a proxy's."
        return replace(test, starts_s=np.empty(0), ends_s=np.empty(0), rates_mbps=np.empty(0), more={}, notes=(note,))
    note = (
        f"Test {test.number}: {total.sent_bytes / 1e6:.2f} MB sent, {total.got_bytes / 1e6:.2f} MB received: its "
        f"intervals are left out, for {why}; the receiver's mean, ramp included, stands for all of it."
    )
    mean_mbps, notes = total.got_bytes * 8 / 1e6 / total.seconds, (*test.notes, note)
    if len(test.every_rate) > 1:
        return replace(test, rates_mbps=np.full(len(test.rates_mbps), mean_mbps), notes=notes)
    more = {} if total.lost_pct is None else {"loss_pct": pl.Series([total.lost_pct])}
    starts_s, ends_s, rates_mbps = (np.array([value]) for value in (0.0, total.seconds, mean_mbps))
    return replace(test, starts_s=starts_s, ends_s=ends_s, rates_mbps=rates_mbps, more=more, notes=notes)
