# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit from slow start as packets show it, for a stack that does not report it, and beside a report.

The lab knows what the server sent: the bottleneck's samples count what left it, what waits and what it dropped. What
the client had got is in the capture, and the server knows it one delay of the return path later. The difference is in
flight. A round lasts until what is in flight at its begin is acknowledged, and a round trip at least. In slow start the
peak of the next round, half as long again, is twice that of this one, whether the sender paces or not. The exit is
estimated in the first two rounds between which the peak grows by less than an eighth: where the flight first comes
within an eighth of their peak. A sender that a loss ends is so found before the cut.
"""

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

GROWTH, NEAR = 1.125, 1 / 1.125
LONGER = 1.5  # the next round against this one: a round trip may change
LEAST_BYTES = 6000  # in flight: below it a single packet is much
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """When a sender left slow start, and what was in flight."""

    t_s: float
    flight_bytes: float


@dataclass(frozen=True)
class Seen:
    """What is known of a path: its round trip without a queue, the return delay, and the size of a full frame."""

    rtt_s: float
    up_s: float
    frame_bytes: int


@dataclass(frozen=True)
class Flight:
    """At each sample of the queue, its time and the bytes that were sent and acknowledged by then."""

    t_s: Values
    sent: Values
    acked: Values

    @classmethod
    def of(cls, qdisc: pl.DataFrame, packets: pl.DataFrame, path: Seen) -> "Flight":
        """Count. A dropped frame counts as acknowledged when it is dropped: the sender will not wait for it."""
        t_s = qdisc["t_s"].to_numpy()
        dropped = qdisc["drops_pkts"].to_numpy() * path.frame_bytes
        begin = qdisc["sent_bytes"][0] if qdisc.height else 0
        sent = (qdisc["sent_bytes"] + qdisc["backlog_bytes"]).to_numpy() - begin + dropped
        down = packets.filter(pl.col("to_client"))
        arrived = np.concatenate(([0], np.cumsum(down["frame_bytes"].to_numpy())))
        known = arrived[np.searchsorted(down["t_s"].to_numpy(), t_s - path.up_s, side="right")]
        return cls(t_s, sent.astype(np.float64), (known + dropped).astype(np.float64))

    @property
    def bytes(self) -> Values:
        """Return what is in flight."""
        return self.sent - self.acked

    def exit_since(self, since_s: float, rtt_s: float) -> Estimate | None:
        """Return the estimate of who is in slow start at a time; None where the flight grows until the end."""
        flight = self.bytes
        for begin in np.flatnonzero((flight >= LEAST_BYTES) & (self.t_s >= since_s)):
            end = self._round_end(int(begin), rtt_s)
            after = end + math.ceil(LONGER * (end - begin))
            if after >= len(self.t_s):
                return None
            of_round, next_round = flight[begin:end], flight[end : after + 1]
            if next_round.max() < GROWTH * of_round.max():
                both = flight[begin : after + 1]
                at = begin + int(np.argmax(both >= NEAR * both.max()))
                return Estimate(float(self.t_s[at]), float(flight[at]))
        return None

    def rounds(self, begin_s: float, end_s: float, rtt_s: float) -> int:
        """Return how many whole rounds lie between two times."""
        at, count = int(np.searchsorted(self.t_s, begin_s)), 0
        while at < len(self.t_s) and (at := self._round_end(at, rtt_s)) < len(self.t_s) and self.t_s[at] <= end_s:
            count += 1
        return count

    def _round_end(self, begin: int, rtt_s: float) -> int:
        """Return the sample at which what is in flight is acknowledged; a round trip later at least."""
        acknowledged = np.searchsorted(self.acked, self.sent[begin])
        return max(int(acknowledged), int(np.searchsorted(self.t_s, self.t_s[begin] + rtt_s)))


def exit_of(qdisc: pl.DataFrame, packets: pl.DataFrame, path: Seen) -> Estimate | None:
    """Return the estimate; None where the flight grew until the end."""
    return Flight.of(qdisc, packets, path).exit_since(-math.inf, path.rtt_s)
