# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a packet within a packet begins, of the tunnels that are read.

IP in IP, GRE (RFC 2784, 2890), also of PPTP (2637) and a switch's mirror (ERSPAN), VXLAN (7348), GENEVE (8926), GTP-U.
"""

from collections.abc import Callable

from lab_formats.reading.ip_headers import UDP, Header
from lab_formats.reading.link_layers import NOT_IP, by_type, of_ethernet

IP_IN_IP, GRE = (4, 41), 47
ACKNOWLEDGED, NUMBERED = 0x80, 0x10  # of GRE's first bits, the former of PPTP's
MIRROR, MIRROR3 = 0x88BE, 0x22EB  # ERSPAN of type 1 or 2, and of type 3
MIRROR_BYTES, MIRROR3_BYTES, MIRROR3_MORE, FRAMES = 8, 12, 8, 0
UDP_BYTES, VXLAN_BYTES, VXLAN_VALID = 8, 8, 0x08  # the other bits are not judged (RFC 7348)
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
    return at if at >= 0 and frame[at] >> 4 in (4, 6) else NOT_IP


def _gre(frame: bytes, at: int) -> int:
    """Pass the checksum, key, sequence number and (PPTP) acknowledgement that the first bits announce."""
    inner = at + 4 + sum(4 for bit in (0x80, 0x20, NUMBERED) if frame[at] & bit)
    inner += 4 if frame[at + 1] & ACKNOWLEDGED else 0
    kind = frame[at + 2] << 8 | frame[at + 3]
    if kind == MIRROR:
        return _of_version(frame, of_ethernet(frame, inner + (MIRROR_BYTES if frame[at] & NUMBERED else 0)))
    if kind == MIRROR3:
        return _mirror3(frame, inner)
    return _of_version(frame, by_type(frame, at + 2, inner))


def _mirror3(frame: bytes, at: int) -> int:
    if frame[at + 10] >> 2 & 0x1F != FRAMES:
        return NOT_IP
    return _of_version(frame, of_ethernet(frame, at + MIRROR3_BYTES + (MIRROR3_MORE if frame[at + 11] & 1 else 0)))


def _vxlan(frame: bytes, at: int) -> int:
    return _of_version(frame, of_ethernet(frame, at + VXLAN_BYTES)) if frame[at] & VXLAN_VALID else NOT_IP


def _geneve(frame: bytes, at: int) -> int:
    options = 4 * (frame[at] & 0x3F)
    return _of_version(frame, by_type(frame, at + 2, at + 8 + options)) if frame[at] >> 6 == 0 else NOT_IP


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
