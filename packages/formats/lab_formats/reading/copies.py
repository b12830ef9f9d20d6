# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets that a capture holds more than once: of several interfaces, of both directions, or of both ends."""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any

from lab_formats.reading.packets import TCP_BYTES, Flow, Packet, is_cut

ELSEWHERE_S = 2.0  # most between two interfaces: a queue may lie between them
SAME_PLACE_S = 1e-3  # most between two copies of which nothing shows where they were seen
STAMPS = b"\x08\x0a"  # the option's kind and length (RFC 7323)
PORT_BYTES, CHECKSUM_AT, URGENT_AT = 4, 16, 18  # in TCP's header: what a translator of addresses changes
LEAST_TRANSLATED = 10  # segments: fewer may be the same by chance, as of a scan
SHARE = 0.5  # of a way's packets: what is sent again is less, and other numbers stand in it
Way = tuple[Any, bytes]  # a conversation and the source of its packets


def counted_once(packets: list[Packet]) -> tuple[list[Packet], int]:
    """Return packets, in the order of time, without their copies; and how many of these another place showed."""
    return _of_one_pass(of_one_interface(packets))


def untranslated(packets: list[Packet], notes: list[str]) -> list[Packet]:
    """Leave out connections that stand again under other addresses (NAT), and note them.

    No two connections have the same numbers; of those that do, the one that stands first counts.
    """
    if len({packet.flow[::2] for packet in packets if packet.flow}) < 2:  # of one pair of hosts
        return packets
    contents: defaultdict[Flow, set[int]] = defaultdict(set)
    owner: dict[int, Flow] = {}
    same: Counter[tuple[Flow, Flow]] = Counter()
    for packet in packets:
        if packet.flow and (content := _numbers(packet)) not in contents[packet.flow]:
            contents[packet.flow].add(content)
            if (first := owner.setdefault(content, packet.flow))[::2] != packet.flow[::2]:  # other hosts
                same[first, packet.flow] += 1
    again = {
        flow
        for (first, flow), count in same.items()
        if count >= LEAST_TRANSLATED and _most(count, min(len(contents[first]), len(contents[flow])))
    }
    if again:
        words = "each counts once, by the addresses that it has first"
        notes.append(f"{len(again)} connections stand again under translated addresses (NAT): {words}.")
    return [packet for packet in packets if packet.flow not in again]


def _numbers(packet: Packet) -> int:
    """Return a number of what of a segment no translator of addresses changes: short, for there are millions."""
    header = packet.header
    return hash((header[PORT_BYTES:CHECKSUM_AT], header[URGENT_AT:], packet.end - packet.seq))


def of_one_interface(packets: list[Packet]) -> list[Packet]:
    """Keep of each conversation what its main interface shows, and what that one does not show.

    The main one has the most packets. So a round trip begins and ends at one place, and what was cut into segments
    between two interfaces counts once. Another capture of the same way (both ends in one file) does not count: what it
    alone shows was lost between the two.
    """
    counts: defaultdict[Hashable, Counter[tuple[int, int]]] = defaultdict(Counter)
    for packet in packets:
        counts[_conversation(packet)][packet.interface] += 1
    main = {key: each.most_common(1)[0][0] for key, each in counts.items() if len(each) > 1}
    if not main:
        return packets
    times_s: defaultdict[Hashable, list[float]] = defaultdict(list)
    for packet in packets:
        if main.get(_conversation(packet)) == packet.interface:
            times_s[_content(packet)].append(packet.t_s)
    mains = [main.get(_conversation(packet), packet.interface) for packet in packets]
    others = [index for index, packet in enumerate(packets) if mains[index] != packet.interface]
    copies = {index for index in others if _near(times_s.get(_content(packets[index]), []), packets[index].t_s)}
    views = Counter(_view(packets[index]) for index in others)
    of_main = Counter(_view(packets[index]) for index in copies)
    for index in others:
        view = _view(packets[index])
        if packets[index].interface[0] != mains[index][0] and _most(of_main[view], views[view]):
            copies.add(index)
    return [packet for index, packet in enumerate(packets) if index not in copies]


def _of_one_pass(packets: list[Packet]) -> tuple[list[Packet], int]:
    """Keep the first of the same packets: of data with time stamps, and on ways of which most stand more than once."""
    first: dict[int, Packet] = {}
    copies: defaultdict[Way, set[int]] = defaultdict(set)
    kept: Counter[Way] = Counter()
    different: Counter[Way] = Counter()
    sure: set[int] = set()
    apart: set[int] = set()
    twice = _at_two_places(packets)
    for index, packet in enumerate(packets):
        way = _way(packet)
        before = first.get(packet.identity)
        if before and packet.t_s - before.t_s <= (_longest_s(packet) if way in twice else _most_s(before, packet)):
            copies[way].add(index)
            if _shows_copies(packet):
                sure.add(index)
            if before.direction == packet.direction and packet.t_s - before.t_s > SAME_PLACE_S:
                apart.add(index)
            continue
        kept[way] += 1
        different[way] += before is None
        first[packet.identity] = packet
    full = {way for way in copies if _most(len(copies[way]), kept[way]) and _most(different[way], kept[way])}
    dropped = sure | {index for way in full for index in copies[way] if _is_copy(packets[index], full)}
    return [packet for index, packet in enumerate(packets) if index not in dropped], len(apart & dropped)


def _at_two_places(packets: list[Packet]) -> set[Way]:
    """Return the ways of TCP of which, and of their way back, most segments stand again over 1 ms later."""
    first_s: dict[int, float] = {}
    different: Counter[Way] = Counter()
    again: defaultdict[Way, set[int]] = defaultdict(set)
    for packet in packets:
        if packet.flow is None:
            continue
        way = _way(packet)
        different[way] += packet.identity not in first_s
        if SAME_PLACE_S < packet.t_s - first_s.setdefault(packet.identity, packet.t_s) <= _longest_s(packet):
            again[way].add(packet.identity)
    most = {way for way in again if _most(len(again[way]), different[way])}
    return {(flow, source) for flow, source in most if all((flow, end) in most for end in (flow[0], flow[2]))}


def _longest_s(packet: Packet) -> float:
    """Return how long after a packet its copy may stand: without end where time stamps show that it is one."""
    return math.inf if STAMPS in packet.header[TCP_BYTES:] else ELSEWHERE_S


def _is_copy(packet: Packet, full: set[Way]) -> bool:
    """Return whether a packet of a way that stands twice is a copy: of an ACK that is cut (SACK) the way back says."""
    cut_ack = packet.end == packet.seq and is_cut(packet.header)
    return not cut_ack or (packet.flow, packet.target) in full


def _most(count: int, of: int) -> bool:
    return count >= SHARE * of


def _most_s(before: Packet, packet: Packet) -> float:
    elsewhere = before.direction != packet.direction or _shows_copies(packet)
    return ELSEWHERE_S if elsewhere else SAME_PLACE_S


def _shows_copies(packet: Packet) -> bool:
    """Return whether what is sent again would differ: data with time stamps."""
    return packet.end != packet.seq and STAMPS in packet.header[TCP_BYTES:]


def _way(packet: Packet) -> Way:
    return _conversation(packet), packet.source


def _view(packet: Packet) -> Hashable:
    return *_way(packet), packet.interface


def _conversation(packet: Packet) -> Hashable:
    return packet.flow or frozenset((packet.source, packet.target))


def _content(packet: Packet) -> Hashable:
    """Return what shows that two interfaces saw the same: of data its first byte, for its length may differ.

    Time stamps tell it from what is sent again; of an ACK all options do, among them what SACK reports.
    """
    if packet.flow is None:
        return packet.identity
    if packet.end == packet.seq:
        return packet.flow, packet.source, packet.seq, packet.ack, packet.ip_bytes, packet.header[TCP_BYTES:]
    at = packet.header.find(STAMPS, TCP_BYTES)
    return packet.flow, packet.source, packet.seq, packet.header[at : at + STAMPS[1]] if at > 0 else b""


def _near(times_s: list[float], t_s: float) -> bool:
    place = bisect_left(times_s, t_s - ELSEWHERE_S)
    return place < len(times_s) and times_s[place] <= t_s + ELSEWHERE_S
