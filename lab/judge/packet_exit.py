# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit from slow start as packets show it, for a stack that does not report it, and beside a report.

The lab knows what the server sent: the bottleneck's samples count what left it, what waits and what it dropped. What
the client had got is in the capture, and the server knows it one delay of the return path later. The difference is in
flight. A round lasts until what is in flight at its begin is acknowledged, and a round trip at least. In slow start the
peak of the next round, half as long again, is twice that of this one, whether the sender paces or not. The exit is
estimated in the first two rounds between which the peak grows by less than an eighth, and after which no round nearly
doubles it until the first loss: where the flight first comes within an eighth of their peak.

A dropped frame stays in flight until frames behind it have reached the client: then the server learns of the loss. Who
doubled the flight until then has left upon that loss.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.node.plan import Shape
from lab.node.qdiscs.kinds import find
from lab.node.qdiscs.qdisc_kind import TcKind

GROWTH, NEAR = 1.125, 1 / 1.125
LONGER = 1.5  # the next round against this one: a round trip may change
LEAST_BYTES = 6000  # in flight: below it a single packet is much
# In a round slow start doubles the flight, and who has left it adds at most a half (RFC 9438, 4.2). DOUBLED is midway:
# acknowledgements in bunches shorten some rounds. Chosen over trials of known exits (bench/packet_exits.py).
GROWN, DOUBLED = 1.5, 1.75
BEHIND = 3  # frames that arrive behind a dropped one make it a lost one (RFC 9002, 6.1.1)
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """When a sender left slow start, what was in flight, and whether a loss made it leave."""

    t_s: float
    flight_bytes: float
    upon_loss: bool = False


@dataclass(frozen=True)
class Seen:
    """What is known of a path: round trip without a queue, return delay, size of a full frame, and its queue."""

    rtt_s: float
    up_s: float
    frame_bytes: int
    drops_at_head: bool = False  # the bottleneck's queue: what it drops are its oldest frames

    @classmethod
    def of(cls, shapes: Iterable[Shape], base_rtt_ms: float, up_s: float, frame_bytes: int) -> "Seen":
        """Return what a trial's qdiscs show of its path."""
        spec = next(shape["spec"] for shape in shapes if shape["part"] == "bottleneck")
        queue = find(spec.get("child", spec)["kind"])
        return cls(base_rtt_ms / 1e3, up_s, frame_bytes, isinstance(queue, TcKind) and queue.drops_at_head)


@dataclass(frozen=True)
class Flight:
    """At each sample of the queue, its time and the bytes that were sent and acknowledged by then."""

    t_s: Values
    sent: Values
    acked: Values
    lost_at: int | None = None  # the sample by which the server learns of its first loss

    @classmethod
    def of(cls, qdisc: pl.DataFrame, packets: pl.DataFrame, path: Seen) -> "Flight":
        """Count. A dropped frame counts as acknowledged with those that were queued before it."""
        t_s = qdisc["t_s"].to_numpy()
        dropped = qdisc["drops_pkts"].to_numpy() * path.frame_bytes
        begin = qdisc["sent_bytes"][0] if qdisc.height else 0
        left = qdisc["sent_bytes"].to_numpy() - begin
        queued = left + qdisc["backlog_bytes"].to_numpy()
        down = packets.filter(pl.col("to_client"))
        arrived = np.concatenate(([0], np.cumsum(down["frame_bytes"].to_numpy())))
        known = arrived[np.searchsorted(down["t_s"].to_numpy(), t_s - path.up_s, side="right")]
        ahead = np.maximum.accumulate(left if path.drops_at_head else queued)  # of what is dropped
        passed = np.concatenate(([0], dropped))[np.searchsorted(ahead, known)]
        behind = ahead[dropped > 0][:1] + BEHIND * path.frame_bytes
        lost_at = np.flatnonzero(known >= behind)[:1].tolist() if behind.size else []
        sent, acked = (queued + dropped).astype(np.float64), (known + passed).astype(np.float64)
        return cls(t_s, sent, acked, lost_at[0] if lost_at else None)

    @property
    def bytes(self) -> Values:
        """Return what is in flight."""
        return self.sent - self.acked

    def exit(self, rtt_s: float) -> Estimate | None:
        """Return the estimate; None where the flight grows until the end."""
        peak, ends, lost_at = np.maximum.accumulate(self.bytes), self._round_ends(rtt_s), self.lost_at
        known = len(ends) - 1 if lost_at is None else lost_at
        whole = np.flatnonzero((ends <= known) & (self.bytes >= LEAST_BYTES))  # rounds that end before the loss
        if lost_at is not None and whole.size and peak[lost_at] >= GROWN * peak[whole[-1]]:
            return Estimate(float(self.t_s[lost_at]), float(peak[lost_at]), upon_loss=True)
        doubled = whole[peak[ends[whole]] >= DOUBLED * peak[whole]]
        return self.exit_since(self.t_s[doubled[-1]] if doubled.size else -math.inf, rtt_s)

    def exit_since(self, since_s: float, rtt_s: float) -> Estimate | None:
        """Return the estimate of who is in slow start at a time; None where the flight grows until the end."""
        flight, ends = self.bytes, self._round_ends(rtt_s)
        for begin in np.flatnonzero((flight >= LEAST_BYTES) & (self.t_s >= since_s)):
            end = int(ends[begin])
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
        at, count, ends = int(np.searchsorted(self.t_s, begin_s)), 0, self._round_ends(rtt_s)
        while at < len(self.t_s) and (at := int(ends[at])) < len(self.t_s) and self.t_s[at] <= end_s:
            count += 1
        return count

    def _round_ends(self, rtt_s: float) -> NDArray[np.intp]:
        """Return of each sample that at which what is in flight is acknowledged; a round trip later at least."""
        return np.maximum(np.searchsorted(self.acked, self.sent), np.searchsorted(self.t_s, self.t_s + rtt_s))
