# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a packet within a packet begins, of the tunnels that are read.

IP in IP, GRE (RFC 2784, 2890), also in UDP (8086), of PPTP (2637) and a switch's mirror (ERSPAN), EtherIP (3378), MPLS
in IP (4023) and UDP (7510), L2TP (2661), VXLAN (7348) and its extension (GPE), GENEVE (8926), LISP (9300), GUE, AYIYA,
GTP-U, Teredo (4380).
"""

import struct
from collections.abc import Callable

from lab_formats.reading.ip_headers import UDP, Header
from lab_formats.reading.link_layers import NOT_IP, by_type, of_ethernet, of_labels, of_nsh, of_ppp

IP_IN_IP, GRE, ETHER_IP, MPLS = (4, 41), 47, 97, 137
ETHER_IP_BYTES = 2
ACKNOWLEDGED, NUMBERED = 0x80, 0x10  # of GRE's first bits, the former of PPTP's
MIRROR, MIRROR3 = 0x88BE, 0x22EB  # ERSPAN of type 1 or 2, and of type 3
MIRROR_BYTES, MIRROR3_BYTES, MIRROR3_MORE, FRAMES = 8, 12, 8, 0
UDP_BYTES, VXLAN_BYTES, VXLAN_VALID = 8, 8, 0x08  # the other bits are not judged (RFC 7348)
GPE_IP, GPE_ETHERNET, GPE_NSH = (1, 2), 3, 4  # what VXLAN-GPE says that follows
UDP_PORTS = struct.Struct(">HH")
UNREAD, UNREAD_PROTOCOLS = (5247,), (55, 115)  # CAPWAP's data; minimal encapsulation, L2TP over IP
L2TP_CONTROL, L2TP_LENGTH, L2TP_NUMBERED, L2TP_OFFSET, L2TP_VERSION = 0x80, 0x40, 0x08, 0x02, 2
LISP_BYTES, GUE_BYTES, AYIYA_BYTES, AYIYA_FORWARDS = 8, 4, 8, 1
TEREDO_VERSION, TEREDO_AUTHENTICATION, TEREDO_ORIGIN = 6, 13, 8
GTP_BYTES, GTP_MORE, USER_DATA = 8, 0x07, 255


def inner_at(frame: bytes, header: Header) -> int:
    """Return where it begins in the frame; NOT_IP where there is none."""
    if header.later_fragment:
        return NOT_IP
    if header.protocol in IP_IN_IP:
        return _of_version(frame, header.body_at)
    if header.protocol == GRE:
        return _gre(frame, header.body_at)
    if header.protocol == ETHER_IP:
        return _of_version(frame, of_ethernet(frame, header.body_at + ETHER_IP_BYTES))
    if header.protocol == MPLS:
        return _of_version(frame, of_labels(frame, header.body_at))
    if header.protocol == UDP and len(frame) > header.body_at + UDP_BYTES:
        source, target = UDP_PORTS.unpack_from(frame, header.body_at)
        read = PORTS.get(target) or EITHER.get(target) or EITHER.get(source)
        return read(frame, header.body_at + UDP_BYTES) if read else NOT_IP
    return NOT_IP


def is_unread(frame: bytes, header: Header) -> bool:
    """Return whether a packet is in a tunnel that is known by its protocol or port, and not read."""
    if header.protocol in UNREAD_PROTOCOLS:
        return True
    whole = header.protocol == UDP and not header.later_fragment and len(frame) >= header.body_at + UDP_PORTS.size
    return whole and any(port in UNREAD for port in UDP_PORTS.unpack_from(frame, header.body_at))


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


def _vxlan_gpe(frame: bytes, at: int) -> int:
    if frame[at + 3] in GPE_IP:
        return _of_version(frame, at + VXLAN_BYTES)
    if frame[at + 3] == GPE_NSH:
        return _of_version(frame, of_nsh(frame, at + VXLAN_BYTES))
    return _vxlan(frame, at) if frame[at + 3] == GPE_ETHERNET else NOT_IP


def _l2tp(frame: bytes, at: int) -> int:
    """Pass the length, both numbers, the sequence numbers and the padding that the first bits announce."""
    bits = frame[at]
    if bits & L2TP_CONTROL or frame[at + 1] & 0x0F != L2TP_VERSION:
        return NOT_IP
    inner = at + 6 + (2 if bits & L2TP_LENGTH else 0) + (4 if bits & L2TP_NUMBERED else 0)
    if bits & L2TP_OFFSET:
        inner += 2 + (frame[inner] << 8 | frame[inner + 1])
    return _of_version(frame, of_ppp(frame, inner))


def _gue(frame: bytes, at: int) -> int:
    """Pass the header, whose optional fields are in words; version 1 has none, and is the packet itself."""
    if frame[at] >> 6:
        return _of_version(frame, at)
    known = frame[at] & 0x20 == 0 and frame[at + 1] in IP_IN_IP
    return _of_version(frame, at + GUE_BYTES + 4 * (frame[at] & 0x1F)) if known else NOT_IP


def _ayiya(frame: bytes, at: int) -> int:
    """Pass the header, an identity of a power of two bytes, and a signature in words."""
    if frame[at + 2] & 0x0F != AYIYA_FORWARDS or frame[at + 3] not in IP_IN_IP:
        return NOT_IP
    return _of_version(frame, at + AYIYA_BYTES + (1 << (frame[at] >> 4)) + 4 * (frame[at + 1] >> 4))


def _teredo(frame: bytes, at: int) -> int:
    """Pass what a server may put before the packet: of authentication, and where the packet came from."""
    if frame[at : at + 2] == b"\0\1":
        at += TEREDO_AUTHENTICATION + frame[at + 2] + frame[at + 3]
    at += TEREDO_ORIGIN if frame[at : at + 2] == b"\0\0" else 0
    return at if frame[at] >> 4 == TEREDO_VERSION else NOT_IP


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


PORTS: dict[int, Callable[[bytes, int], int]] = {
    4789: _vxlan,
    8472: _vxlan,
    4790: _vxlan_gpe,
    6081: _geneve,
    2152: _gtp,
    4754: _gre,
    4341: lambda frame, at: _of_version(frame, at + LISP_BYTES),
    6080: _gue,
    6635: lambda frame, at: _of_version(frame, of_labels(frame, at)),
}
EITHER: dict[int, Callable[[bytes, int], int]] = {3544: _teredo, 1701: _l2tp, 5072: _ayiya}  # of either end's port
