# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that a capture holds more than once: of several interfaces, or of both directions, of one machine."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable

from lab_formats.reading.packets import Packet

ELSEWHERE_S = 2.0  # most between two interfaces: a queue may lie between them
SAME_PLACE_S = 1e-3  # most between two copies of which nothing shows where they were seen
TCP_BYTES, STAMPS = 20, b"\x08\x0a"  # the option's kind and length (RFC 7323)
SHARE = 0.5  # of a way's packets: what is sent again is less, and other numbers stand in it


def counted_once(packets: list[Packet]) -> list[Packet]:
    """Return packets, in the order of time, without their copies."""
    return _of_one_pass(of_one_interface(packets))


def of_one_interface(packets: list[Packet]) -> list[Packet]:
    """Keep of each conversation what its main interface shows, and what that one does not show.

    The main one has the most packets. So a round trip begins and ends at one place, and what was cut into segments
    between two interfaces counts once.
    """
    counts: defaultdict[Hashable, Counter[object]] = defaultdict(Counter)
    for packet in packets:
        counts[_conversation(packet)][packet.interface] += 1
    main = {key: each.most_common(1)[0][0] for key, each in counts.items() if len(each) > 1}
    if not main:
        return packets
    times_s: defaultdict[Hashable, list[float]] = defaultdict(list)
    for packet in packets:
        if main.get(_conversation(packet)) == packet.interface:
            times_s[_content(packet)].append(packet.t_s)
    return [
        packet
        for packet in packets
        if main.get(_conversation(packet), packet.interface) == packet.interface
        or not _near(times_s.get(_content(packet), []), packet.t_s)
    ]


def _of_one_pass(packets: list[Packet]) -> list[Packet]:
    """Keep the first of the same packets: of data with time stamps, and on ways of which most stand more than once."""
    first: dict[int, Packet] = {}
    copies: defaultdict[Hashable, set[int]] = defaultdict(set)
    kept: Counter[Hashable] = Counter()
    different: Counter[Hashable] = Counter()
    sure: set[int] = set()
    for index, packet in enumerate(packets):
        way: Hashable = (_conversation(packet), packet.source)
        before = first.get(packet.identity)
        if before and packet.t_s - before.t_s <= _most_s(before, packet):
            copies[way].add(index)
            if _shows_copies(packet):
                sure.add(index)
            continue
        kept[way] += 1
        different[way] += before is None
        first[packet.identity] = packet
    dropped = sure
    for way, indices in copies.items():
        if len(indices) >= SHARE * kept[way] and different[way] >= SHARE * kept[way]:
            dropped |= indices
    return [packet for index, packet in enumerate(packets) if index not in dropped]


def _most_s(before: Packet, packet: Packet) -> float:
    elsewhere = before.direction != packet.direction or _shows_copies(packet)
    return ELSEWHERE_S if elsewhere else SAME_PLACE_S


def _shows_copies(packet: Packet) -> bool:
    """Return whether what is sent again would differ: data with time stamps."""
    return packet.end != packet.seq and STAMPS in packet.header[TCP_BYTES:]


def _conversation(packet: Packet) -> Hashable:
    return packet.flow or frozenset((packet.source, packet.target))


def _content(packet: Packet) -> Hashable:
    """Return what shows that two interfaces saw the same: of a segment its first byte, for its length may differ."""
    if packet.flow is None:
        return packet.identity
    return packet.flow, packet.source, packet.seq, None if packet.end != packet.seq else (packet.ack, packet.ip_bytes)


def _near(times_s: list[float], t_s: float) -> bool:
    place = bisect_left(times_s, t_s - ELSEWHERE_S)
    return place < len(times_s) and times_s[place] <= t_s + ELSEWHERE_S
