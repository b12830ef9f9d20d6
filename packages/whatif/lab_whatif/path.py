# SPDX-License-Identifier: GPL-2.0-or-later
"""When each packet entered and left the bottleneck, and how long ACKs took back: the same from either end's capture.

Time stamps separate the two ways. A one-way delay has an unknown constant; both constants cancel in the sum of the two
shortest ways, which is the base RTT. Half of it is put on each way.
"""

from dataclasses import dataclass

import numpy as np
from lab_formats.reading.packets import ACK, SYN
from numpy.typing import NDArray

from lab_whatif.arrivals import arrivals_of
from lab_whatif.segments import HEADER_BYTES, Segments
from lab_whatif.stamps import Stamps, seconds_of

Seconds = NDArray[np.float64]
Numbers = NDArray[np.int64]
ETHERNET_BYTES = 14
FRAME_BYTES = ETHERNET_BYTES + HEADER_BYTES  # what the lab's links count in front of data
NOT_KNOWN = 1  # bytes in flight: no segment is as short


@dataclass(frozen=True)
class Down:
    """Data packets in the order of their arrival, on the capture's clock."""

    arrival_s: Seconds  # at the receiver
    wait_s: Seconds  # above the shortest way down
    seq: Numbers
    end: Numbers
    frame_bytes: Numbers

    @property
    def queued_bytes(self) -> Numbers:
        """Return the queue that each packet found: what left the bottleneck during its wait."""
        total = np.concatenate([[0], np.cumsum(self.frame_bytes)])
        begun = np.searchsorted(self.arrival_s, self.arrival_s - self.wait_s, side="right")
        return np.asarray(total[np.arange(len(begun))] - total[np.minimum(begun, np.arange(len(begun)))])


@dataclass(frozen=True)
class Up:
    """ACKs in the order of their departure: how long each took above the shortest, from at least to at most."""

    depart_s: Seconds
    least_s: Seconds
    most_s: Seconds
    ack: Numbers


@dataclass(frozen=True)
class Sent:
    """New data in the order in which it was sent, with what was in flight then."""

    t_s: Seconds
    end: Numbers
    acked: Numbers  # acknowledged when it was sent
    flight: Numbers  # before it; NOT_KNOWN at all of them where a log does not state it
    room: Numbers  # of the receive window behind it


@dataclass(frozen=True)
class Path:
    """A connection's way through the network."""

    down: Down
    up: Up
    sent: Sent
    base_rtt_ms: float
    step_ms: float  # of the time stamps on which it rests
    mss_bytes: int | None = None  # of a log, whose rows may be several segments
    by_acks: bool = False  # a sender's capture: what one ACK reports together, or late, arrived before
    taken_back: int = 0  # ACKs at a sender that take back what a SACK block has reported
    counted: tuple[Seconds, Seconds] | None = None  # of a log: when it counted losses, and how many; not where


def at_receiver(segments: Segments, ticks_per_s: int | None = None) -> Path | None:
    """Read a receiver's capture; None where its time stamps are no clock. Their rate is seen where it is not given."""
    rows = np.flatnonzero(segments.data & (segments.tsval >= 0))
    back = np.flatnonzero(~segments.data & (segments.flags & (SYN | ACK) > 0) & (segments.tsval >= 0))
    back = np.setdiff1d(back, np.flatnonzero(segments.flags & (SYN | ACK) == SYN)[:-1])  # lost, or their answers were
    own = seconds_of(segments.tsval[rows], segments.t_s[rows], ticks_per_s)
    if own is None or not len(back):
        return None
    delay_s = segments.t_s[rows] - own.t_s
    sent_s = own.t_s
    depart_s, first, last = _echoes(segments, rows, back, sent_s)
    if not len(depart_s):
        return None
    least_up_s, least_down_s = float((last - depart_s).min()), float(delay_s.min())
    base_s = least_up_s + least_down_s
    up = Up(
        depart_s,
        np.maximum(first - depart_s - least_up_s, 0),
        last - depart_s - least_up_s,
        segments.ack[back][np.searchsorted(segments.t_s[back], depart_s)],
    )
    payload = segments.length[rows] > 0
    down = _down(segments, rows[payload], segments.t_s[rows][payload], (delay_s - least_down_s)[payload])
    on_clock_s = sent_s + least_down_s - base_s / 2
    return Path(down, up, _sent_of_echoes(segments, rows, back, on_clock_s), base_s * 1e3, _step_ms(segments, own))


def at_sender(segments: Segments) -> Path | None:
    """Read a sender's capture; None where its time stamps are no clock."""
    back = np.flatnonzero(~segments.data & (segments.flags & ACK > 0) & (segments.tsval >= 0))
    far = seconds_of(segments.tsval[back], segments.t_s[back])
    if far is None:
        return None
    up_s = segments.t_s[back] - far.t_s
    least_up_s = float(up_s.min())
    seen = arrivals_of(segments, back, far.t_s)
    if not len(seen.row):
        return None
    delay_s = seen.arrival_s - seen.sent_s
    least_down_s = float(delay_s.min())
    if seen.once.any():  # what answers a second copy sooner may be the first one's, which was late and not lost
        least_down_s = max(least_down_s, float(delay_s[seen.once].min()) - far.step_s)
    sum_s = least_up_s + least_down_s  # too short by up to one step: a stamp is as old as its step
    base_s = max(min(seen.shortest_round_s, sum_s + far.step_s), sum_s)
    least_up_s, least_down_s = (least_s + (base_s - sum_s) / 2 for least_s in (least_up_s, least_down_s))
    shift_s = base_s / 2 - least_down_s
    wait_s = np.maximum(up_s - least_up_s, 0)
    up = Up(far.t_s + shift_s, wait_s, wait_s, segments.ack[back])
    down = _down(segments, seen.row, seen.arrival_s + shift_s, np.maximum(delay_s - least_down_s, 0))
    sent, step_ms = _sent_as_captured(segments), _step_ms(segments, far)
    return Path(down, up, sent, base_s * 1e3, step_ms, by_acks=True, taken_back=seen.taken_back)


def _step_ms(segments: Segments, stamps: Stamps) -> float:
    """Return the coarser of the two clocks' steps."""
    return max(stamps.step_s, segments.grain_s) * 1e3


def _down(segments: Segments, rows: Numbers, arrival_s: Seconds, wait_s: Seconds) -> Down:
    order = np.argsort(arrival_s, kind="stable")
    rows = rows[order]
    length = segments.length[rows]
    seq = segments.seq[rows]
    return Down(arrival_s[order], wait_s[order], seq, seq + length, length + FRAME_BYTES)


def _echoes(segments: Segments, rows: Numbers, back: Numbers, sent_s: Seconds) -> tuple[Seconds, Seconds, Seconds]:
    """Return when each ACK left, and between which two times it reached the sender.

    It did between the building of the last segment that echoes an older ACK and of the first that echoes it or a later
    one (all of the sender's clock).
    """
    ticks = _relative(segments.tsval[back], int(segments.tsval[back][0]))
    echoed = np.maximum.accumulate(_relative(np.maximum(segments.tsecr[rows], 0), int(segments.tsval[back][0])))
    stamps, places = np.unique(ticks, return_index=True)
    answered = np.searchsorted(echoed, stamps)
    kept = answered < len(rows)
    answered, depart_s = answered[kept], segments.t_s[back][places[kept]]
    before = np.where(answered > 0, sent_s[np.maximum(answered - 1, 0)], -np.inf)
    return depart_s, np.maximum.accumulate(before), np.maximum.accumulate(sent_s[answered])


def _relative(ticks: Numbers, first: int) -> Numbers:
    """Return stamps as steps from one; each is within 2^31 of it (25 days of milliseconds)."""
    return np.asarray((ticks - first + 2**31) % 2**32 - 2**31)


def _sent_of_echoes(segments: Segments, rows: Numbers, back: Numbers, sent_s: Seconds) -> Sent:
    """Return what was in flight at each new segment, by the ACK that it echoes."""
    first = int(segments.tsval[back][0])
    stamps = _relative(segments.tsval[back], first)
    echoed = np.maximum.accumulate(_relative(np.maximum(segments.tsecr[rows], 0), first))
    place = np.searchsorted(stamps, echoed, side="right") - 1
    highest_ack = np.maximum.accumulate(segments.ack[back])
    edge = np.maximum.accumulate(segments.ack[back] + segments.window[back])
    known = np.maximum(place, 0)
    return _new_only(segments, rows, sent_s, np.where(place >= 0, highest_ack[known], 0), edge[known])


def _sent_as_captured(segments: Segments) -> Sent:
    rows = np.flatnonzero(segments.data)
    known = np.maximum.accumulate(np.where(segments.data, -1, segments.ack))
    edge = np.maximum.accumulate(np.where(segments.data, -1, segments.ack + segments.window))
    return _new_only(segments, rows, segments.t_s[rows], np.maximum(known[rows], 0), edge[rows])


def _new_only(segments: Segments, rows: Numbers, sent_s: Seconds, acked: Numbers, edge: Numbers) -> Sent:
    end = segments.seq[rows] + segments.length[rows]
    before = np.concatenate([[1], np.maximum.accumulate(end)[:-1]])  # the first byte of data has number 1
    new = (segments.length[rows] > 0) & (end > before)
    acked = np.maximum(acked, 1)
    flight = np.maximum(before, 1) - acked
    return Sent(sent_s[new], end[new], acked[new], flight[new], (edge - end)[new])
