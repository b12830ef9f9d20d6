# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments that a host put together before they were captured (GRO), or had not cut yet (TSO).

Each had its own headers on the link, of which such a packet has those of one.
"""

import struct
from collections.abc import Iterator

from lab_formats.reading.packets import SYN, Flow, Packet

TCP_BYTES, FLAGS_AT = 20, 13
END, NOTHING, MSS = 0, 1, 2  # kinds of options
MOST_HEADERS = 0.01  # of the bytes, without a word


def merged(packets: list[Packet]) -> Iterator[str]:
    """Yield a note on the headers that are missing from the rate; without the handshake they are not known."""
    most: dict[Flow, int] = {}
    for packet in packets:
        if packet.flow and (mss := _stated_mss(packet.header)):
            most[packet.flow] = min(mss, most.get(packet.flow, mss))
    count = lacking = 0
    for packet in packets:
        payload = packet.end - packet.seq
        if packet.flow in most and payload > most[packet.flow]:
            headers = packet.ip_bytes - payload
            full = max(most[packet.flow] - max(len(packet.header) - TCP_BYTES, 0), 1)
            count, lacking = count + 1, lacking + ((payload - 1) // full) * headers
    share = lacking / (sum(packet.ip_bytes for packet in packets) + lacking)
    if share > MOST_HEADERS:
        words = f"the headers between them, {share:.1%} of the bytes on the link, are not in the rate"
        yield f"{count} packets hold several segments each, as a host puts them together (GRO, TSO): {words}."


def _stated_mss(header: bytes) -> int:
    """Return the MSS that a SYN states; 0 of any other segment, and of one that is cut before it."""
    at = TCP_BYTES
    while len(header) > FLAGS_AT and header[FLAGS_AT] & SYN and at + 4 <= len(header) and header[at] != END:
        if header[at] == MSS:
            return int(struct.unpack_from(">H", header, at + 2)[0])
        at += 1 if header[at] == NOTHING else max(header[at + 1], 2)
    return 0
