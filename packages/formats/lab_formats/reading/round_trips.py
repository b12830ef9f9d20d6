# SPDX-License-Identifier: GPL-2.0-or-later
"""Round trips that a capture shows: of TCP segments and their acknowledgements, of echo requests and replies."""

from collections import OrderedDict
from dataclasses import dataclass
from statistics import median

from lab_formats.reading.packets import Flow, Packet

WRAP = 2**32
MOST_WAITING = 100_000
MARK_BYTES = 1  # of the sequence numbers, which a SYN or FIN takes
MANY, ALL = 5, 0.9  # acknowledgements with data, and their share, from which a pure one would have been sent earlier
AT_ONCE_MS = 1.0  # no path between two machines is taken to be shorter where nothing else shows the end
Key = tuple[Flow, bytes]


@dataclass(frozen=True)
class Sample:
    """One round trip, at the time at which it was answered."""

    t_s: float
    rtt_ms: float
    with_data: bool = False  # the acknowledgement came with data, perhaps only when there was some
    flow: Flow | None = None


def round_trips(packets: list[Packet], side: bytes, notes: list[str]) -> list[Sample]:
    """Return round trips of the far side, as seen from where the capture was taken.

    A capture at one end sees that end answer at once, if not always (ACKs are delayed); the other's answers carry the
    path. Which is far is judged by the medians, but who ever answers at once in most connections is near where the
    other does not. What was sent twice is not used, for it is not known which copy was answered. Where one end alone
    answers, and at once, it is the one at which the capture was taken.
    """
    tcp = _tcp(packets)
    ways = [[s for (source, s) in tcp if (source == side) == mine] for mine in (True, False)]
    near, far = sorted(ways, key=_median_ms)
    if near and _least_ms(far) < AT_ONCE_MS <= _least_ms(near):
        near, far = far, near
    if near and _least_ms(far) < AT_ONCE_MS:
        words = "the path is as short, or something on it answers for an end; longer ones are queues or delayed ACKs"
        notes.append(f"Both ends answer within {AT_ONCE_MS:g} ms at times: {words}.")
    elif near and _least_ms(near) >= AT_ONCE_MS:
        near_ms = min(sample.rtt_ms for sample in near)
        words = f"the RTT is that of the way to the other end, without the {near_ms:.1f} ms of this one"
        notes.append(f"Neither end answers at once, as where a capture lies between them: {words}.")
    elif far and not near:
        words = "it is where the capture was taken, and no RTT of the path is seen"
        at_once = _least_ms(far) < AT_ONCE_MS
        words = words if at_once else "if the capture was taken there, that is a delayed ACK and no RTT of the path"
        notes.append(f"One end alone answers, after {_median_ms(far):.3f} ms in the median: {words}.")
        far = [] if at_once else far
    if (carried := sum(sample.with_data for sample in far)) >= max(MANY, ALL * len(far)):
        words = "their round trips contain what the other end waited until it had some"
        notes.append(f"{carried} of {len(far)} acknowledgements came with data: {words}.")
    return sorted([*far, *_echoes(packets)], key=lambda sample: sample.t_s)


def _least_ms(way: list[Sample]) -> float:
    """Return the shortest answer of a connection, the median of all connections: one other host may be near."""
    least_ms: dict[Flow | None, float] = {}
    for sample in way:
        least_ms[sample.flow] = min(sample.rtt_ms, least_ms.get(sample.flow, sample.rtt_ms))
    return median(least_ms.values()) if least_ms else 0.0


def _median_ms(way: list[Sample]) -> float:
    return sorted(sample.rtt_ms for sample in way)[len(way) // 2] if way else 0.0


def _tcp(packets: list[Packet]) -> list[tuple[bytes, Sample]]:
    """Match each segment that was sent once with the acknowledgement of exactly its end."""
    waiting: dict[Key, OrderedDict[int, float | None]] = {}
    highest: dict[Key, int] = {}
    found = []
    for packet in packets:
        if packet.flow is None:
            continue
        key, back = (packet.flow, packet.source), (packet.flow, packet.target)
        if packet.ack is not None:
            sent_s = waiting.get(back, OrderedDict()).pop(packet.ack, None)
            if sent_s is not None and packet.t_s >= sent_s:
                with_data = packet.end - packet.seq > MARK_BYTES
                found.append((packet.target, Sample(packet.t_s, (packet.t_s - sent_s) * 1e3, with_data, packet.flow)))
        if packet.end != packet.seq:
            _remember(waiting.setdefault(key, OrderedDict()), highest, key, packet)
    return found


def _remember(mine: "OrderedDict[int, float | None]", highest: dict[Key, int], key: Key, packet: Packet) -> None:
    end = packet.end % WRAP
    new = key not in highest or 0 < (end - highest[key]) % WRAP < WRAP // 2
    # of what is sent again neither copy counts: the acknowledgement does not show which it answers
    mine[end] = packet.t_s if new else None
    if new:
        highest[key] = end
    if len(mine) > MOST_WAITING:
        mine.popitem(last=False)


def _echoes(packets: list[Packet]) -> list[Sample]:
    sent: dict[tuple[bytes, bytes, int, int], float] = {}
    found = []
    for packet in packets:
        if packet.echo is None:
            continue
        request, identifier, number = packet.echo
        if request:
            sent[packet.source, packet.target, identifier, number] = packet.t_s
            continue
        begun = sent.pop((packet.target, packet.source, identifier, number), None)
        if begun is not None and packet.t_s >= begun:
            found.append(Sample(packet.t_s, (packet.t_s - begun) * 1e3))
    return found
