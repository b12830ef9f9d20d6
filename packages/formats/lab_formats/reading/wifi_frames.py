# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the EtherType of an IEEE 802.11 frame is, behind whatever the card states of the radio."""

import struct

NOT_DATA, ENCRYPTED, AGGREGATED, BROKEN = -1, -2, -3, -4
WHY = {
    ENCRYPTED: "encrypted (802.11)",
    AGGREGATED: "aggregates of several packets (A-MSDU of 802.11)",
    BROKEN: "broken, as their check sequence shows (802.11)",
}
SNAP, HEADER_BYTES, ADDRESS_BYTES = b"\xaa\xaa\x03\0\0\0", 24, 6
DATA, NO_CONTENT, QOS = 2, 4, 8  # the type, and bits of the subtype
BOTH_WAYS, RETRY, PROTECTED, ORDER, SEVERAL = 0x03, 0x08, 0x40, 0x80, 0x80
NUMBER_AT = 22  # of the frame's number, which a retry has again
TIME_BIT, FLAGS_BIT, MORE_WORDS = 1, 2, 1 << 31  # of what a radiotap header says that it has
BAD_FCS = 0x40


def type_at(frame: bytes, at: int) -> int:
    """Return where the frame's EtherType is; what is below 0 says why there is none."""
    subtype, flags = frame[at] >> 4, frame[at + 1]
    if frame[at] >> 2 & 3 != DATA or subtype & NO_CONTENT:
        return NOT_DATA
    if flags & PROTECTED:
        return ENCRYPTED
    end = at + HEADER_BYTES + (ADDRESS_BYTES if flags & BOTH_WAYS == BOTH_WAYS else 0)
    if subtype & QOS:
        if frame[end] & SEVERAL:
            return AGGREGATED
        end += 2 + (4 if flags & ORDER else 0)
    return end + len(SNAP) if frame[end : end + len(SNAP)] == SNAP else NOT_DATA


def is_broken(frame: bytes) -> bool:
    """Return whether a radiotap header says that its frame's check sequence is wrong."""
    at = 4
    (present,) = words = struct.unpack_from("<I", frame, at)
    while words[0] & MORE_WORDS:
        at += 4
        words = struct.unpack_from("<I", frame, at)
    at += 4
    if present & TIME_BIT:
        at = (at + 7) // 8 * 8 + 8
    return bool(present & FLAGS_BIT and frame[at] & BAD_FCS)


def number_of(frame: bytes, at: int) -> tuple[int, bool]:
    """Return a frame's number, and whether it is sent again on the air."""
    return struct.unpack_from("<H", frame, at + NUMBER_AT)[0], bool(frame[at + 1] & RETRY)


def after_radiotap(frame: bytes) -> int:
    """Pass a radiotap header, or one of PPI: both have their length in the same place."""
    return int(struct.unpack_from("<H", frame, 2)[0])


def after_prism(frame: bytes) -> int:
    """Pass a Prism header, whose length is in the card's byte order, or one of AVS."""
    return int(min(struct.unpack_from("<I", frame, 4)[0], struct.unpack_from(">I", frame, 4)[0]))
