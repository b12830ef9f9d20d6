# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture lost, has in a wrong order or put together, as acknowledgements and sizes show it.

Bytes that were acknowledged have passed: where no segment holds them, or a later one, the capture is at fault.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lab.tables.packets import unwrap
from lab.tables.tcp_headers import options
from lab_formats.reading.packets import SYN, TCP_BYTES, Flow, Packet

# Of segments that a host put together before they were captured (GRO), or had not cut yet (TSO), one has its headers.
FLAGS_AT = 13
MSS = 2, 2  # kind and bytes of an option
MOST_HEADERS = 0.01  # of the bytes, without a word
ETHERNET_BYTES, LEAST_HEADER = 1500, 28  # what most links carry at most; of it IPv4 and UDP


def missing_share(packets: list[Packet]) -> float:
    """Return the share of the acknowledged bytes of the largest way of TCP that the capture lost.

    It is 0 where that cannot be seen: of ports that were used again, and of IP fragments.
    """
    own, data = _largest_way(packets)
    sources = {packet.source for packet in data}
    acks = [packet.ack for packet in own if packet.source not in sources and packet.ack is not None]
    fragments = any(packet.flow is None and packet.source in sources for packet in packets)
    if not data or not acks or fragments or _opens_again(own, data):
        return 0.0
    begin, end = _in_order(data)
    acked = int(unwrap(np.array(acks), data[0].seq).max())
    begin, end = np.append(begin, acked), np.append(np.maximum.accumulate(end), acked)
    gaps = np.minimum(begin[1:], acked) - np.minimum(end[:-1], acked)
    return float(np.maximum(gaps, 0).sum()) / max(acked - int(begin[0]), 1)


def again_share(packets: list[Packet]) -> float:
    """Return the share of the payload of the largest way that stands a second time: lost behind the capture's place.

    What was lost before that place fills a hole, and stands once. It is 0 of ports that were used again.
    """
    own, data = _largest_way(packets)
    if not data or _opens_again(own, data):
        return 0.0
    begin, end = _in_order(data)
    covered = np.concatenate([begin[:1], np.maximum.accumulate(end)[:-1]])
    return float((np.minimum(end, covered) - begin).clip(0).sum() / (end - begin).sum())


def _opens_again(own: list[Packet], data: list[Packet]) -> bool:
    """Return whether another connection of the same ports follows, whose numbers may lie anywhere."""
    begun_s = min((packet.t_s for packet in data if packet.end - packet.seq > 1), default=0.0)
    return any(packet.opens and packet.t_s > begun_s for packet in own)


def _in_order(data: list[Packet]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where segments begin and end, without wraps and sorted by their begin."""
    begin = unwrap(np.array([packet.seq for packet in data]), data[0].seq)
    order = np.argsort(begin, kind="stable")
    return begin[order], (begin + np.array([packet.end - packet.seq for packet in data]))[order]


def behind_acks_share(packets: list[Packet]) -> float:
    """Return the share of new segments of the largest way that stand behind their own acknowledgements."""
    own, data = _largest_way(packets)
    if not data:
        return 0.0
    highest = acked = data[0].seq  # as they go on, without wraps
    behind = new = 0
    for packet in own:
        if packet.source != data[0].source:
            acked = max(acked, _near(packet.ack, acked)) if packet.ack is not None else acked
        elif (end := _near(packet.end, highest)) > highest:
            new, behind, highest = new + 1, behind + (end <= acked), end
    return behind / max(new, 1)


def _near(number: int, to: int) -> int:
    """Continue a number of 32 bits near another one."""
    return to + (number - to + 2**31) % 2**32 - 2**31


def _largest_way(packets: list[Packet]) -> tuple[list[Packet], list[Packet]]:
    """Return the packets of the connection of which one way has most payload, and that way's with payload."""
    sizes: Counter[tuple[Flow, bytes]] = Counter()
    for packet in packets:
        if packet.flow:
            sizes[packet.flow, packet.source] += packet.end - packet.seq
    if not sizes:
        return [], []
    (flow, source), _ = sizes.most_common(1)[0]
    own = [packet for packet in packets if packet.flow == flow]
    return own, [packet for packet in own if packet.source == source and packet.end != packet.seq]


def merged(packets: list[Packet]) -> Iterator[str]:
    """Yield a note on the headers that are missing from the rate; of UDP, or without the handshake, it has no share."""
    most: dict[Flow, int] = {}
    for packet in packets:
        if packet.flow and (mss := stated_mss(packet.header)):
            most[packet.flow] = min(mss, most.get(packet.flow, mss))
    count = lacking = 0
    for packet in packets:
        payload = packet.end - packet.seq
        if packet.flow in most and payload > most[packet.flow]:
            headers = packet.ip_bytes - payload
            full = max(most[packet.flow] - max(len(packet.header) - TCP_BYTES, 0), 1)
            count, lacking = count + 1, lacking + ((payload - 1) // full) * headers
    all_bytes = sum(packet.ip_bytes for packet in packets) + lacking
    share = lacking / all_bytes
    if share > MOST_HEADERS:
        words = f"the headers between them, {share:.1%} of the bytes on the link, are not in the rate"
        yield f"{count} packets hold several segments each, as a host puts them together (GRO, TSO): {words}."
    longer = [packet.ip_bytes for packet in packets if packet.flow not in most and packet.ip_bytes > ETHERNET_BYTES]
    if LEAST_HEADER * sum(size // ETHERNET_BYTES for size in longer) > MOST_HEADERS * all_bytes:
        words = "as where a host puts several together (GSO, GRO): the headers between them are then not in the rate"
        words += ", unless the link carries packets as long (jumbo frames)"
        yield f"{len(longer)} packets are longer than {ETHERNET_BYTES} bytes, {words}."


def stated_mss(header: bytes) -> int:
    """Return the MSS that a SYN states; 0 of any other segment, and of one that is cut before it."""
    if len(header) <= FLAGS_AT or not header[FLAGS_AT] & SYN:
        return 0
    return next((int.from_bytes(body) for kind, body in options(header[TCP_BYTES:]) if (kind, len(body)) == MSS), 0)
