# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a frame's IP packet begins, by the frame's link type (tcpdump.org/linktypes.html)."""

import struct
from collections.abc import Callable

from lab_formats.reading.wifi_frames import BROKEN, NOT_DATA, after_prism, after_radiotap, is_broken, number_of, type_at

IP4, IP6, MPLS, NSH = 0x0800, 0x86DD, (0x8847, 0x8848), 0x894F
NSH_IP, NSH_ETHERNET = (1, 2), 3  # what a network service header (RFC 8300) says that follows, as VXLAN-GPE does
TAGS = {
    **dict.fromkeys((0x8100, 0x88A8, 0x9100, 0x9200), 4),  # VLAN
    0x8926: 6,  # VN-Tag
    0x892F: 6,  # HSR
    0x893F: 8,  # E-Tag (802.1BR)
}
WITHIN = {0x6558: 0, 0x8903: 2, 0x88E7: 4}  # bytes before an Ethernet frame: bridging; FabricPath; 802.1ah
MACS_BYTES = 12  # both addresses of an Ethernet frame
LONGEST_LLC, SNAP, SNAP_BYTES = 1500, b"\xaa\xaa\x03\0\0\0", 6
PPPOE_BYTES = 6
PPPS = {0x880B: 0, 0x8864: PPPOE_BYTES}  # bytes before a PPP frame: of PPTP; PPPoE
FAMILIES = (2, 10, 24, 28, 30)  # AF_INET, and AF_INET6 of Linux, NetBSD, FreeBSD and macOS
PPP_IP, HDLC = (0x21, 0x57), (0x0F, 0x8F)
NOT_IP = NOT_DATA
ENCAPSULATED_BYTES, NETFILTER_PACKET = 12, 9
SLL, SLL2, PKTAP, RADIOTAP = 113, 276, 258, 127
Place = tuple[int, int]  # interface and direction, 0 where the frame does not show it
UNKNOWN: Place = (0, 0)


def by_type(frame: bytes, type_at: int, at: int) -> int:
    """Follow an EtherType, whose content begins at `at`, through tags, frames within frames, MPLS labels and PPPoE."""
    kind = frame[type_at] << 8 | frame[type_at + 1]
    while kind in TAGS:
        at += TAGS[kind]
        kind = frame[at - 2] << 8 | frame[at - 1]
    if kind in WITHIN:
        return of_ethernet(frame, at + WITHIN[kind])
    if kind in (IP4, IP6):
        return at
    if kind <= LONGEST_LLC and frame[at : at + SNAP_BYTES] == SNAP:
        return by_type(frame, at + SNAP_BYTES, at + SNAP_BYTES + 2)
    if kind in PPPS:
        return of_ppp(frame, at + PPPS[kind])
    if kind == NSH:
        return of_nsh(frame, at)
    return of_labels(frame, at) if kind in MPLS else NOT_IP


def of_ethernet(frame: bytes, at: int = 0) -> int:
    """Return where the packet of an Ethernet frame begins, which begins at `at`."""
    return by_type(frame, at + MACS_BYTES, at + MACS_BYTES + 2)


def of_labels(frame: bytes, at: int) -> int:
    """Return where the packet behind MPLS labels begins."""
    while not frame[at + 2] & 1:  # until the bottom of the stack
        at += 4
    return at + 4 if frame[at + 4] >> 4 in (4, 6) else _pseudowire(frame, at + 4)


def of_nsh(frame: bytes, at: int) -> int:
    """Return where the packet behind a network service header begins, which has its length in words."""
    inner, kind = at + 4 * (frame[at + 1] & 0x3F), frame[at + 3]
    return inner if kind in NSH_IP else of_ethernet(frame, inner) if kind == NSH_ETHERNET else NOT_IP


def _pseudowire(frame: bytes, at: int) -> int:
    """Return where the packet of an Ethernet frame over MPLS begins, behind its control word where it has one."""
    behind = (of_ethernet(frame, at + word) for word in (4, 0))
    return next((found for found in behind if found != NOT_IP), NOT_IP)


def of_ppp(frame: bytes, at: int = 0) -> int:
    """Pass PPP's protocol, of one byte or two, behind its address and control where they are."""
    if frame[at] in HDLC:
        return by_type(frame, at + 2, at + 4)
    at += 2 if frame[at : at + 2] == b"\xff\x03" else 0
    short = frame[at] & 1
    protocol = frame[at] if short else frame[at] << 8 | frame[at + 1]
    return at + 2 - short if protocol in PPP_IP else NOT_IP


def _loopback(frame: bytes) -> int:
    """Pass BSD's address family, in the byte order of whoever wrote it."""
    little, big = struct.unpack_from("<I", frame)[0], struct.unpack_from(">I", frame)[0]
    return 4 if min(little, big) in FAMILIES else NOT_IP


def _pktap(frame: bytes) -> int:
    """Pass macOS's header, which has its length and the link type of what follows."""
    length, link = struct.unpack_from("<I4xI", frame)
    inner = LINKS[link][1](frame[length:]) if link in LINKS and link != PKTAP else NOT_IP
    return NOT_IP if inner == NOT_IP else length + inner


def _wifi(frame: bytes, at: int = 0) -> int:
    kind_at = type_at(frame, at)
    return kind_at if kind_at < 0 else by_type(frame, kind_at, kind_at + 2)


def _radiotap(frame: bytes) -> int:
    return BROKEN if is_broken(frame) else _wifi(frame, after_radiotap(frame))


def _netfilter(frame: bytes) -> int:
    """Pass what netfilter states before the packet: parts with a length and a kind each."""
    at = 4
    while at < len(frame):
        length, kind = struct.unpack_from("<HH", frame, at)
        if kind == NETFILTER_PACKET:
            return at + 4
        at += max(4, (length + 3) // 4 * 4)
    return NOT_IP


RAW = ("raw IP", lambda frame: 0 if frame[0] >> 4 in (4, 6) else NOT_IP)
LINKS: dict[int, tuple[str, Callable[[bytes], int]]] = {
    1: ("Ethernet", of_ethernet),
    0: ("BSD loopback", _loopback),
    108: ("OpenBSD loopback", _loopback),
    9: ("PPP", of_ppp),
    50: ("PPP over HDLC", of_ppp),
    51: ("PPPoE", lambda frame: of_ppp(frame, PPPOE_BYTES)),
    204: ("PPP with direction", lambda frame: of_ppp(frame, 1)),
    166: ("PPP of pppd", lambda frame: of_ppp(frame, 2)),  # its address has the direction
    104: ("Cisco HDLC", lambda frame: by_type(frame, 2, 4)),
    **dict.fromkeys((12, 14, 101, 228, 229), RAW),
    SLL: ("Linux cooked", lambda frame: by_type(frame, 14, 16)),
    SLL2: ("Linux cooked v2", lambda frame: by_type(frame, 0, 20)),
    PKTAP: ("macOS packet tap", _pktap),
    105: ("IEEE 802.11", _wifi),
    RADIOTAP: ("IEEE 802.11 with a radiotap header", _radiotap),
    192: ("IEEE 802.11 with a PPI header", lambda frame: _wifi(frame, after_radiotap(frame))),
    119: ("IEEE 802.11 with a Prism header", lambda frame: _wifi(frame, after_prism(frame))),
    163: ("IEEE 802.11 with an AVS header", lambda frame: _wifi(frame, after_prism(frame))),
    109: ("OpenBSD encapsulated IP", lambda _: ENCAPSULATED_BYTES),
    239: ("Linux netfilter log", _netfilter),
}
AIR: dict[int, Callable[[bytes], int]] = {  # where the frame of 802.11 begins
    105: lambda _: 0,
    RADIOTAP: after_radiotap,
    192: after_radiotap,
    119: after_prism,
    163: after_prism,
}
OTHERS = {
    3: "AX.25",
    6: "token ring",
    7: "ARCNET",
    8: "SLIP",
    10: "FDDI",
    11: "ATM (RFC 1483)",
    99: "Symantec firewall",
    100: "ATM (RFC 1483)",
    106: "classical IP over ATM",
    107: "frame relay",
    117: "OpenBSD pf log",
    122: "IP over fibre channel",
    123: "ATM (SunATM)",
    138: "IP over FireWire",
    143: "DOCSIS",
    **dict.fromkeys(range(147, 163), "private use"),
    177: "LAPD",
    187: "Bluetooth HCI",
    189: "USB (Linux)",
    195: "IEEE 802.15.4",
    201: "Bluetooth HCI with direction",
    215: "IEEE 802.15.4",
    220: "USB (Linux)",
    227: "CAN bus",
    230: "IEEE 802.15.4",
    242: "IP over InfiniBand",
    249: "USB (Windows)",
    251: "Bluetooth low energy",
    252: "Wireshark's upper PDU",
    253: "Linux netlink",
    254: "Bluetooth Linux monitor",
    256: "Bluetooth low energy",
    271: "vsock (Linux)",
    283: "IEEE 802.15.4",
    288: "USB 2.0",
}


def link_name(link: int) -> str:
    """Return a link type in words."""
    return LINKS[link][0] if link in LINKS else OTHERS.get(link, f"number {link} of tcpdump's list of link types")


def on_air(link: int, frame: bytes) -> tuple[int, bool]:
    """Return the number of a frame of 802.11, and whether it is sent again on the air; -1 of other frames."""
    return number_of(frame, AIR[link](frame)) if link in AIR else (-1, False)


def place(link: int, frame: bytes) -> Place:
    """Return the interface and direction that the frame's own header shows."""
    if link == SLL2:
        return struct.unpack_from(">I", frame, 4)[0], 1 + frame[10]
    if link == SLL:
        return 0, 1 + frame[1]
    if link == PKTAP:
        return hash(frame[12:36]), 0  # the interface's name
    return UNKNOWN
