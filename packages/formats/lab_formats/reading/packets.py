# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture's IP packets, with what rates and round trips need of them."""

import ipaddress
import struct
from collections import Counter
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from lab.base.errors import UserError, field_error
from lab.base.format import counted
from lab_formats.reading.frames import Frame, frames
from lab_formats.reading.ip_headers import ICMP, ICMP6, TCP, UDP, Header, read_header
from lab_formats.reading.link_layers import LINKS, NOT_IP, link_name, on_air, place
from lab_formats.reading.text import read_bytes
from lab_formats.reading.tunnels import GRE, inner_at, is_unread
from lab_formats.reading.wifi_frames import WHY

MOST_PACKETS = 2_000_000
MOST_OTHER = 0.01  # of the bytes may be of frames without an IP packet, such as ARP, without a word
FAR_BACK_S = 0.1  # from which a packet hardly was only behind another in a capture's buffers
CUT_SHARE = 0.5  # of the frames of one length, from which a tool cut them there and did not keep their length
CHECKSUM = {TCP: slice(16, 18), UDP: slice(6, 8)}  # a network card may fill it in behind the capture
HEADER_MOST = 60  # bytes of TCP's header with all options; by them two packets are the same
NOTES = {
    "unstated": "{} packets state no IP length (segmentation offload): their frame's is taken.",
    "within": "{} packets are within others (a tunnel): the inner ones count, by their own lengths.",
    "gre": "{} packets are within GRE that holds no IP packet which is read: the outer ones count, and show no flow.",
    "unread": "{} packets are within CAPWAP, L2TP over IP or another tunnel that is not read: "
    "the outer ones count, and show no flow.",
    "short": "{} packets are cut within TCP's header, and show no flow: a longer snap length holds it.",
    "retried": "{} frames were sent again on the air (802.11) and stand twice: each counts once.",
    "malformed": "{} packets state a TCP header of less than 20 bytes, and show no flow.",
    **{why: f"{{}} frames are {why}: left out." for why in WHY.values()},
}
ECHO = {(ICMP, 8): True, (ICMP, 0): False, (ICMP6, 128): True, (ICMP6, 129): False}
HEAD_TCP = struct.Struct(">HHIIBB")
TCP_OFFSET, TCP_BYTES = 12, 20  # the byte whose upper half is the header's length in words; the least (RFC 9293)
FIN, SYN, ACK = 1, 2, 16
Flow = tuple[bytes, int, bytes, int]


class Packet(NamedTuple):
    """One IP packet; flow, seq, end and ack of TCP only, echo of ICMP only."""

    t_s: float  # since the first frame
    source: bytes
    target: bytes
    ip_bytes: int
    interface: tuple[int, int]
    direction: int  # 0: not known
    identity: int  # of all copies of one packet that are seen on its way
    flow: Flow | None = None  # both ends, the same for both ways
    seq: int = 0
    end: int = 0  # sequence number after its last byte (SYN and FIN count)
    ack: int | None = None
    opens: bool = False  # a SYN without an ACK, or an echo request
    echo: tuple[bool, int, int] | None = None  # request?, identifier, number
    header: bytes = b""  # of TCP, with its options
    held: int = 0  # captured bytes of its frame, where it states more than the whole frame had


def packets_of(path: Path, notes: list[str]) -> list[Packet]:
    """Read a capture's IP packets in the order of time; `notes` gets what was left out."""
    found: list[Packet] = []
    counts: Counter[str] = Counter()
    others: Counter[str] = Counter()  # link types that are not read
    lengths: Counter[int] = Counter()  # of the frames
    numbers: dict[int, int] = {}  # of frames of 802.11, by what they hold
    start_ns: int | None = None
    for frame in frames(path, read_bytes(path), notes):
        counts["frames"] += 1
        counts["bytes"] += frame.wire_bytes
        lengths[len(frame.data)] += 1
        if counts["frames"] > MOST_PACKETS:
            raise UserError(f"{path}: packets: must be at most {MOST_PACKETS}: import it in parts")
        if frame.interface.link not in LINKS:
            others[link_name(frame.interface.link)] += 1
            continue
        start_ns = frame.t_ns if start_ns is None else start_ns
        try:
            packet = _packet(frame, (frame.t_ns - start_ns) / 1e9, counts)
        except (struct.error, IndexError):
            counts["broken"] += 1
            counts["cut"] += len(frame.data) < frame.wire_bytes
            continue
        if packet and _is_retry(frame, packet, numbers):
            counts["retried"] += 1
        elif packet:
            found.append(packet)
    found = _undamaged(found, lengths, notes)
    if not found and others:
        rule = f"one of {', '.join(dict.fromkeys(name for name, _ in LINKS.values()))}"
        raise field_error(path, "link type", " and ".join(others), rule)
    longer = f"capture with a snap length above {max(lengths, default=0)} bytes"
    if not found:
        why = "".join(f", {counts[each]} {each}" for each in WHY.values() if counts[each])
        cut = f"; {counts['cut']} are cut before its end: {longer}" if counts["cut"] else ""
        frames_read = f"{counts['frames']} frames, none with a whole IP header{why}{cut}"
        raise UserError(f"{path}: content: must be a capture with IP packets ({frames_read})")
    if counts["short"] and not any(packet.flow for packet in found):
        rule = f"whole TCP headers, and {counts['short']} are cut: {longer}"
        raise UserError(f"{path}: packets: must hold {rule}")
    if counts["broken"]:
        notes.append(f"{counts['broken']} frames hold no whole IP header: left out.")
    notes += [f"{count} frames are of link type {name}: left out." for name, count in others.items()]
    if (share := counts["other bytes"] / max(counts["bytes"], 1)) > MOST_OTHER:
        notes.append(f"{counts['other']} frames hold no IP packet that is read ({share:.1%} of the bytes): left out.")
    notes += [words.format(counts[kind]) for kind, words in NOTES.items() if counts[kind]]
    if back := [packet.t_s - later.t_s for packet, later in pairwise(found) if later.t_s < packet.t_s]:
        words = (
            f"; one by {max(back):.3g} s, and if a clock was set back then, the rates and round trips are wrong there"
        )
        far = words if max(back) > FAR_BACK_S else ""
        notes.append(f"{len(back)} packets are older than the one before them in the file: sorted by time{far}.")
    return sorted(found, key=attrgetter("t_s"))


def _undamaged(packets: list[Packet], lengths: Counter[int], notes: list[str]) -> list[Packet]:
    """Leave out packets that state more bytes than their frames had: a host drops them.

    Where most frames of one length hold such packets, a tool cut them there: what they state counts.
    """
    held = Counter(packet.held for packet in packets if packet.held)
    cut = {length for length, count in held.items() if count >= CUT_SHARE * lengths[length]}
    kept = [packet for packet in packets if not packet.held or packet.held in cut]
    if damaged := len(packets) - len(kept):
        notes.append(f"{counted(damaged, 'packet')} with a length beyond the frame's (damaged): left out.")
    if shortened := sum(held[length] for length in cut):
        words = "as where a tool cuts frames and does not keep their length: what is stated counts"
        notes.append(f"{counted(shortened, 'packet')} with a length beyond the frame's, {words}.")
    return kept


def is_cut(header: bytes) -> bool:
    """Return whether TCP's header is cut within its options."""
    return TCP_OFFSET < len(header) < (header[TCP_OFFSET] >> 4) * 4


def address_of(path: Path, text: str) -> bytes:
    """Read an address as packets have it."""
    try:
        return ipaddress.ip_address(text).packed
    except ValueError:
        raise field_error(path, "user", text, "an IP address") from None


def _is_retry(frame: Frame, packet: Packet, numbers: dict[int, int]) -> bool:
    """Return whether a frame of 802.11 holds what one of the same number held: it was sent again on the air."""
    number, retried = on_air(frame.interface.link, frame.data)
    if number < 0:
        return False
    before = numbers.get(packet.identity)
    numbers[packet.identity] = number
    return retried and before == number


def _packet(frame: Frame, t_s: float, counts: Counter[str]) -> Packet | None:
    """Read the packet of a frame, where it is one of IP; IndexError or struct.error where it is cut."""
    link, data = frame.interface.link, frame.data
    at = LINKS[link][1](data)
    if at < 0:
        counts[WHY.get(at, "other")] += 1
        counts["other bytes"] += 0 if at in WHY else frame.wire_bytes
        return None
    header = read_header(data, at)
    held = len(data) if header.ip_bytes > frame.wire_bytes - at else 0
    if header.protocol != TCP and (inner := _inner_at(frame, header)) >= 0:
        counts["within"] += 1
        while inner >= 0:
            at, header = inner, read_header(data, inner)
            inner = _inner_at(frame, header)
    counts["gre"] += header.protocol == GRE
    counts["unread"] += is_unread(data, header)
    if header.ip_bytes == 0:
        counts["unstated"] += 1
        header = header._replace(ip_bytes=frame.wire_bytes - at)
    number, direction = place(link, data)
    body = data[header.body_at : header.body_at + HEADER_MOST]
    seen = ((frame.interface.number, number), direction, _identity(header, body))
    packet = Packet(t_s, header.source, header.target, header.ip_bytes, *seen, held=held)
    if header.later_fragment:
        return packet
    if header.protocol == TCP:
        if len(body) >= HEAD_TCP.size and (body[TCP_OFFSET] >> 4) * 4 >= TCP_BYTES:
            return _tcp(packet, body, header.ip_bytes - (header.body_at - at))
        counts["short" if len(body) < HEAD_TCP.size else "malformed"] += 1
    request = ECHO.get((header.protocol, body[0])) if len(body) >= 8 else None
    if request is None:
        return packet
    return packet._replace(echo=(request, *struct.unpack_from(">HH", body, 4)), opens=request)


def _inner_at(frame: Frame, header: Header) -> int:
    """Return where a packet within begins; a whole frame that ends before it holds none, as an ACK of PPTP."""
    try:
        return inner_at(frame.data, header)
    except IndexError:
        if len(frame.data) < frame.wire_bytes:
            raise
        return NOT_IP


def _identity(header: Header, body: bytes) -> int:
    """Return a number of what no hop changes (the TTL and checksums may change)."""
    if skipped := CHECKSUM.get(header.protocol):
        body = body[: skipped.start] + body[skipped.stop :]
    return hash((header[:-1], body))


def _tcp(packet: Packet, body: bytes, segment_bytes: int) -> Packet:
    """Add what TCP's header shows, by the lengths in the headers: a capture may hold only the first bytes of each."""
    source, target, seq, ack, offset, flags = HEAD_TCP.unpack_from(body)
    ends = sorted([(packet.source, source), (packet.target, target)])
    syn, fin = bool(flags & SYN), bool(flags & FIN)
    end = seq + max(0, segment_bytes - (offset >> 4) * 4) + syn + fin
    acks = bool(flags & ACK)
    return packet._replace(
        flow=(*ends[0], *ends[1]),
        seq=seq,
        end=end,
        ack=ack if acks else None,
        opens=syn and not acks,
        header=body[: (offset >> 4) * 4],
    )
