# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit from slow start as packets show it, for a stack that does not report it, and beside a report.

The lab knows what the server sent: the bottleneck's samples count what left it, what waits and what it dropped. What
the client had got is in the capture, and the server knows it one delay of the return path later. The difference is in
flight. A round lasts until what is in flight at its begin is acknowledged, and a round trip at least. In slow start the
peak of the next round, half as long again, is twice that of this one, whether the sender paces or not. The exit is
estimated in the first two rounds between which the peak grows by less than an eighth, and after which no round nearly
doubles it until the first loss: where the flight first comes within an eighth of their peak.

A frame that the queue drops, or the link itself loses, stays in flight until frames behind it have reached the client:
then the server learns of the loss. Who doubled the flight until then, and does not go on, has left upon that loss.
"""

import math
from collections.abc import Iterable, Sequence
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
# So many frames that arrive behind a dropped one make it a lost one, and a single one after this share of a round trip
BEHIND, WAITS = 3, 1 / 8  # (RFC 9002, 6.1.1 and 6.1.2).
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
    losses_at: Sequence[int] = ()  # the samples by which the server learns of a loss

    @classmethod
    def of(cls, qdisc: pl.DataFrame, packets: pl.DataFrame, path: Seen, lost: Values | float = 0.0) -> "Flight":
        """Count. A dropped frame, and what the link lost by a sample, are acknowledged with what was queued before."""
        t_s = qdisc["t_s"].to_numpy()
        lost, dropped = np.full(len(t_s), lost), qdisc["drops_pkts"].to_numpy() * path.frame_bytes
        begin = qdisc["sent_bytes"][0] if qdisc.height else 0
        left = qdisc["sent_bytes"].to_numpy() - begin
        queued = left + qdisc["backlog_bytes"].to_numpy()
        down = packets.filter(pl.col("to_client"))
        arrived = np.concatenate(([0], np.cumsum(down["frame_bytes"].to_numpy())))
        known = arrived[np.searchsorted(down["t_s"].to_numpy(), t_s - path.up_s, side="right")]
        known = known + _passed(lost, np.maximum.accumulate(left - lost), known)
        ahead = np.maximum.accumulate(left if path.drops_at_head else queued)  # of what is dropped
        sent, acked = (queued + dropped).astype(np.float64), (known + _passed(dropped, ahead, known)).astype(np.float64)
        midst = (left + np.append(0, left[:-1]) + path.frame_bytes) / 2  # of what left since the sample before
        behind = np.concatenate([ahead[np.diff(dropped, prepend=0) > 0], midst[np.diff(lost, prepend=0) > 0]])
        by_count = np.searchsorted(known, behind + BEHIND * path.frame_bytes)
        first_s = np.append(t_s, np.inf)[np.searchsorted(known, behind, side="right")]
        losses_at = np.unique(np.minimum(by_count, np.searchsorted(t_s, first_s + WAITS * path.rtt_s)))
        return cls(t_s, sent, acked, losses_at[losses_at < len(t_s)].tolist())

    @property
    def bytes(self) -> Values:
        """Return what is in flight."""
        return self.sent - self.acked

    def peak_until(self, t_s: float) -> float:
        """Return the most that was in flight until a time."""
        return float(self.bytes[self.t_s <= t_s].max(initial=0.0))

    def exit(self, rtt_s: float) -> Estimate | None:
        """Return the estimate; None where the flight grows until the end."""
        peak, ends = np.maximum.accumulate(self.bytes), self._round_ends(rtt_s)
        of_rounds, known = self.bytes >= LEAST_BYTES, len(ends) - 1
        acked_s = self.t_s[of_rounds][:1] + rtt_s  # the first flight grows without an acknowledgement
        for lost_at in self.losses_at:
            goes_on = peak[min(self._after(lost_at, ends), len(peak) - 1)] >= GROWN * peak[lost_at]
            if goes_on or not of_rounds[: lost_at + 1].any():
                continue
            known = lost_at
            whole = np.flatnonzero(of_rounds & (ends <= known) & (self.t_s >= acked_s))  # they end before the loss
            if not whole.size or peak[lost_at] >= GROWN * peak[whole[-1]]:
                return Estimate(float(self.t_s[lost_at]), float(peak[lost_at]), upon_loss=True)
            break
        whole = np.flatnonzero(of_rounds & (ends <= known))
        doubled = whole[peak[ends[whole]] >= DOUBLED * peak[whole]]
        return self.exit_since(self.t_s[doubled[-1]] if doubled.size else -math.inf, rtt_s)

    def exit_since(self, since_s: float, rtt_s: float) -> Estimate | None:
        """Return the estimate of who is in slow start at a time; None where the flight grows until the end."""
        flight, ends = self.bytes, self._round_ends(rtt_s)
        for begin in np.flatnonzero((flight >= LEAST_BYTES) & (self.t_s >= since_s)).tolist():
            end, after = int(ends[begin]), self._after(begin, ends)
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

    @staticmethod
    def _after(begin: int, ends: NDArray[np.intp]) -> int:
        """Return the sample at which the next round of that which begins at a sample is over."""
        return int(ends[begin]) + math.ceil(LONGER * (int(ends[begin]) - begin))

    def _round_ends(self, rtt_s: float) -> NDArray[np.intp]:
        """Return of each sample that at which what is in flight is acknowledged; a round trip later at least."""
        return np.maximum(np.searchsorted(self.acked, self.sent), np.searchsorted(self.t_s, self.t_s + rtt_s))


def _passed(gone: Values, ahead: Values, known: Values) -> Values:
    """Return what of all that is gone by each sample lay before what is known to have come."""
    return np.concatenate(([0.0], gone))[np.searchsorted(ahead, known)]
