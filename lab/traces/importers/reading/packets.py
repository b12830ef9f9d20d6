# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture's IP packets, with what rates and round trips need of them."""

import io
import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dpkt  # type: ignore[import-untyped]

from lab.base.errors import UserError, field_error
from lab.traces.importers.reading.capture_bytes import check_whole
from lab.traces.importers.reading.text import read_bytes, short

BROKEN = (
    dpkt.Error,
    struct.error,
    ValueError,
    IndexError,
    KeyError,
    AttributeError,
    TypeError,
    OverflowError,
    EOFError,
)
LINKS = {
    dpkt.pcap.DLT_EN10MB: dpkt.ethernet.Ethernet,
    dpkt.pcap.DLT_LINUX_SLL: dpkt.sll.SLL,
    dpkt.pcap.DLT_NULL: dpkt.loopback.Loopback,
}
MOST_PACKETS = 2_000_000
RAW_LINKS = (12, 14, 101, 228, 229)  # IP without a frame, by several numbers
ECHO = {(dpkt.ip.IP, 8): True, (dpkt.ip.IP, 0): False, (dpkt.ip6.IP6, 128): True, (dpkt.ip6.IP6, 129): False}
Flow = tuple[bytes, int, bytes, int]


@dataclass(frozen=True)
class Packet:
    """One IP packet; flow, seq, end and ack of TCP only, echo of ICMP only."""

    t_s: float
    source: bytes
    target: bytes
    ip_bytes: int
    flow: Flow | None = None  # both ends, the same for both ways
    seq: int = 0
    end: int = 0  # sequence number after its last byte (SYN and FIN count)
    ack: int | None = None
    opens: bool = False  # a SYN without an ACK, or an echo request
    echo: tuple[bool, int, int] | None = None  # request?, identifier, number


def packets_of(path: Path) -> list[Packet]:
    """Read a capture's IP packets; UserError names the packet at which it breaks."""
    found: list[Packet] = []
    number = 0
    try:
        data = read_bytes(path)
        check_whole(path, data)
        reader: Any = dpkt.pcap.UniversalReader(io.BytesIO(data))
        link = reader.datalink()
        for t_s, frame in reader:
            number += 1  # also in the error below
            if number > MOST_PACKETS:
                raise UserError(f"{path}: packets: must be at most {MOST_PACKETS}: import it in parts")
            found += _ip(float(t_s), frame, link, path)
    except UserError:
        raise
    except BROKEN as error:
        raise UserError(
            f"{path}: packet {number + 1}: {short(error)}: must be a whole pcap or pcapng capture"
        ) from None
    if not found:
        raise UserError(f"{path}: content: must be a capture with IP packets ({number} packets, none of IP)")
    return found


def address_of(path: Path, text: str) -> bytes:
    """Read an address as packets have it."""
    try:
        return ipaddress.ip_address(text).packed
    except ValueError:
        raise field_error(path, "user", text, "an IP address") from None


def _ip(t_s: float, frame: bytes, link: int, path: Path) -> Iterator[Packet]:
    """Yield the packet of a frame, where it is one of IP."""
    if link in RAW_LINKS:
        inner: Any = dpkt.ip6.IP6(frame) if frame[0] >> 4 == 6 else dpkt.ip.IP(frame)
    elif link in LINKS:
        inner = LINKS[link](frame).data
    else:
        raise field_error(path, "link type", link, f"one of {', '.join(map(str, [*LINKS, *RAW_LINKS]))}")
    if not isinstance(inner, (dpkt.ip.IP, dpkt.ip6.IP6)):
        return
    length = inner.len if isinstance(inner, dpkt.ip.IP) else inner.plen + 40
    transport = inner.data
    if isinstance(transport, dpkt.tcp.TCP):
        yield _tcp(t_s, inner, transport, length)
    elif isinstance(transport, (dpkt.icmp.ICMP, dpkt.icmp6.ICMP6)):
        yield Packet(t_s, inner.src, inner.dst, length, echo=(echo := _echo(inner)), opens=bool(echo and echo[0]))
    else:
        yield Packet(t_s, inner.src, inner.dst, length)


def _tcp(t_s: float, ip: Any, tcp: Any, length: int) -> Packet:
    ends = sorted([(ip.src, tcp.sport), (ip.dst, tcp.dport)])
    syn, fin, ack = (bool(tcp.flags & flag) for flag in (dpkt.tcp.TH_SYN, dpkt.tcp.TH_FIN, dpkt.tcp.TH_ACK))
    # by the lengths in the headers: a capture may hold only the first bytes of each packet
    header = (ip.hl * 4 if isinstance(ip, dpkt.ip.IP) else 40) + tcp.off * 4
    end = tcp.seq + max(0, length - header) + syn + fin
    flow = (*ends[0], *ends[1])
    return Packet(t_s, ip.src, ip.dst, length, flow, tcp.seq, end, tcp.ack if ack else None, syn and not ack)


def _echo(ip: Any) -> tuple[bool, int, int] | None:
    request = ECHO.get((type(ip), ip.data.type))
    if request is None:
        return None
    identifier, number = struct.unpack_from(">HH", bytes(ip.data), 4)
    return request, identifier, number
