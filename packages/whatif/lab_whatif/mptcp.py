# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a connection is one of several that carry one stream (MPTCP, RFC 8684), as its own headers show it."""

import struct
from collections import defaultdict
from collections.abc import Iterable

from lab_formats.reading.packets import TCP_BYTES

from lab.tables.tcp_headers import options

MPTCP, SEQUENCE = 30, 2  # the option, and the subtype of a data sequence signal
HAS_ACK, LONG_ACK, HAS_MAPPING, LONG_NUMBER = 1, 2, 4, 8
WORD_BYTES = 4
MAPPING = struct.Struct(">IIH")  # the stream's number, the connection's, and the count of bytes that have them
OTHERS = (
    "One subflow of several of MPTCP is read: what the others carry is not in the capacity, "
    "nor in the buffer where they share the link."
)


def is_one_of_several(sent: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether an end's numbers of the stream run ahead of the connection's: what lies between went another way.

    sent: the sender of each segment, and its header of TCP. Each end counts from a number of its own.
    """
    ahead: defaultdict[bytes, set[int]] = defaultdict(set)
    for end, header in sent:
        ahead[end].update(_ahead(header))
    return any(len(each) > 1 for each in ahead.values())


def _ahead(header: bytes) -> Iterable[int]:
    """Yield by how much, of 32 bits; of a mapping without data, or of all that follows, nothing."""
    for kind, body in options(header[TCP_BYTES:]):
        if kind == MPTCP and len(body) > 1 and body[0] >> 4 == SEQUENCE and body[1] & HAS_MAPPING:
            at = 2 + (WORD_BYTES << bool(body[1] & LONG_ACK) if body[1] & HAS_ACK else 0)
            at += WORD_BYTES if body[1] & LONG_NUMBER else 0  # its upper half
            if at + MAPPING.size <= len(body):
                stream, own, count = MAPPING.unpack_from(body, at)
                yield from [(stream - own) % 2**32] if own and count else []
