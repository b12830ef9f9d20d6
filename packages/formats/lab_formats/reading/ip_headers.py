# SPDX-License-Identifier: GPL-2.0-or-later
"""The header of an IP packet, of version 4 or 6 with its extensions; an authentication header (AH) of both."""

import struct
from typing import NamedTuple

ICMP, TCP, UDP, ICMP6 = 1, 6, 17, 58
HEAD4, HEAD6 = struct.Struct(">BxHHHxBxx4s4s"), struct.Struct(">4xHBx16s16s")
HEAD6_BYTES, NOTHING = 40, 59  # the kind of a body of none
OPTIONS, FRAGMENT, AUTHENTICATION = (0, 43, 60), 44, 51  # extensions: hop by hop, routing, destination


class Header(NamedTuple):
    """What no hop changes, apart from `body_at`."""

    source: bytes
    target: bytes
    ip_bytes: int  # with all headers; 0: not stated
    protocol: int
    number: int  # identification, and place of the fragment
    later_fragment: bool
    body_at: int  # where the transport begins in the frame


def read_header(frame: bytes, at: int) -> Header:
    """Read the header at a byte of a frame; struct.error or IndexError where it is broken or cut."""
    return _version6(frame, at) if frame[at] >> 4 == 6 else _version4(frame, at)


def _version4(frame: bytes, at: int) -> Header:
    first, ip_bytes, number, fragment, protocol, source, target = HEAD4.unpack_from(frame, at)
    header_bytes = (first & 15) * 4
    if first >> 4 != 4 or header_bytes < HEAD4.size or 0 < ip_bytes < header_bytes:
        raise struct.error
    place, end = fragment & 0x1FFF, at + header_bytes
    if protocol == AUTHENTICATION and not place:
        protocol, end = frame[end], end + _authentication_bytes(frame, end)
    return Header(source, target, ip_bytes, protocol, number << 13 | place, place > 0, end)


def _authentication_bytes(frame: bytes, at: int) -> int:
    return (frame[at + 1] + 2) * 4


def _version6(frame: bytes, at: int) -> Header:
    length, protocol, source, target = HEAD6.unpack_from(frame, at)
    end, number, later = at + HEAD6_BYTES, 0, False
    while protocol in OPTIONS or protocol in (FRAGMENT, AUTHENTICATION):
        following = frame[end]
        if protocol == FRAGMENT:
            place, identification = struct.unpack_from(">HI", frame, end + 2)
            number, later, size = identification << 13 | place >> 3, place >> 3 > 0, 8
        else:
            size = _authentication_bytes(frame, end) if protocol == AUTHENTICATION else (frame[end + 1] + 1) * 8
        protocol, end = following, end + size
        if later:
            break
    stated = length or protocol == NOTHING
    return Header(source, target, length + HEAD6_BYTES if stated else 0, protocol, number, later, end)
