# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a packet within a packet begins: IP in IP, GRE (RFC 2784, 2890), VXLAN (7348), GENEVE (8926), GTP-U."""

from collections.abc import Callable

from lab_formats.reading.ip_headers import UDP, Header
from lab_formats.reading.link_layers import IP4, IP6, NOT_IP, by_type

IP_IN_IP, GRE = (4, 41), 47
BRIDGED = 0x6558  # Ethernet frames
UDP_BYTES, VXLAN_BYTES, MAC_BYTES = 8, 8, 12
GTP_BYTES, GTP_MORE, USER_DATA = 8, 0x07, 255


def inner_at(frame: bytes, header: Header) -> int:
    """Return where it begins in the frame; NOT_IP where there is none."""
    if header.later_fragment:
        return NOT_IP
    if header.protocol in IP_IN_IP:
        return _of_version(frame, header.body_at)
    if header.protocol == GRE:
        return _gre(frame, header.body_at)
    if header.protocol == UDP and len(frame) > header.body_at + UDP_BYTES:
        port = frame[header.body_at + 2] << 8 | frame[header.body_at + 3]
        return PORTS[port](frame, header.body_at + UDP_BYTES) if port in PORTS else NOT_IP
    return NOT_IP


def _of_version(frame: bytes, at: int) -> int:
    return at if frame[at] >> 4 in (4, 6) else NOT_IP


def _of_type(frame: bytes, kind: int, at: int) -> int:
    if kind == BRIDGED:
        return by_type(frame, at + MAC_BYTES, at + MAC_BYTES + 2)
    return _of_version(frame, at) if kind in (IP4, IP6) else NOT_IP


def _gre(frame: bytes, at: int) -> int:
    """Pass the checksum, key and sequence number that the first bits announce."""
    more = sum(4 for bit in (0x80, 0x20, 0x10) if frame[at] & bit)
    return _of_type(frame, frame[at + 2] << 8 | frame[at + 3], at + 4 + more)


def _vxlan(frame: bytes, at: int) -> int:
    return _of_type(frame, BRIDGED, at + VXLAN_BYTES) if frame[at] == 0x08 else NOT_IP


def _geneve(frame: bytes, at: int) -> int:
    options = 4 * (frame[at] & 0x3F)
    return _of_type(frame, frame[at + 2] << 8 | frame[at + 3], at + 8 + options) if frame[at] >> 6 == 0 else NOT_IP


def _gtp(frame: bytes, at: int) -> int:
    """Pass the header and its extensions, each of which ends with the kind of the next."""
    if frame[at] >> 4 != 3 or frame[at + 1] != USER_DATA:
        return NOT_IP
    inner = at + GTP_BYTES
    if frame[at] & GTP_MORE:
        inner += 4
        while frame[inner - 1]:
            inner += max(4, 4 * frame[inner])
    return _of_version(frame, inner)


PORTS: dict[int, Callable[[bytes, int], int]] = {4789: _vxlan, 8472: _vxlan, 6081: _geneve, 2152: _gtp}
