# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of a capture, each with the clock and the link type of its own interface.

Formats: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; also A. Kuznetsov's, whose records name the interface.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lab.base.errors import UserError, field_error

RULE = "must be a whole pcap or pcapng capture"
PCAP = {
    0xA1B2C3D4: (10**6, 16),
    0xA1B23C4D: (10**9, 16),
    0xA1B2CD34: (10**6, 24),
}  # ticks per s, bytes of a record head
SECTION, BYTE_ORDER = 0x0A0D0D0A, 0x1A2B3C4D
INTERFACE, OLD_PACKET, SIMPLE_PACKET, STATISTICS, PACKET = 1, 2, 3, 5, 6
MAGICS = tuple(struct.pack(f"{order}I", magic) for magic in (*PCAP, SECTION) for order in "<>")
PCAP_HEAD, BLOCK_LEAST, INTERFACE_HEAD, PACKET_HEAD = 24, 12, 16, 28
TSRESOL, FCSLEN, TSOFFSET = 9, 13, 14  # options of an interface
STATISTICS_HEAD, DROPPED = 20, (5, 7)  # options of its statistics: what it dropped, and what the system did
LINK_TYPE, FCS_KNOWN = 0x03FFFFFF, 1 << 26  # of a pcap file's last field; above them 16-bit words of the FCS
LEAST_FCS_BITS = 16  # the format has its length in bits, and its example in bytes: writers differ
LONGEST = 1 << 24  # bytes of a record, as in libpcap


class Interface(NamedTuple):
    """Where frames were captured."""

    number: int
    link: int
    ticks_per_s: int
    fcs_bytes: int = 0
    offset_s: int = 0


class Frame(NamedTuple):
    """One captured frame; `wire_bytes` without its check sequence (FCS)."""

    t_ns: int
    interface: Interface
    data: bytes
    wire_bytes: int


def frames(path: Path, data: bytes, notes: list[str]) -> Iterator[Frame]:
    """Yield a capture's frames; a last one that the file's end cuts becomes a note, what is no capture a UserError."""
    if data[:4] in MAGICS[-2:]:
        yield from _of_pcapng(path, data, notes)
    elif data[:4] in MAGICS and len(data) >= PCAP_HEAD:
        yield from _of_pcap(path, data, notes)
    else:
        raise field_error(path, "first bytes", data[:4].hex(), RULE.removeprefix("must be "))


def _of_pcap(path: Path, data: bytes, notes: list[str]) -> Iterator[Frame]:
    order = "<" if struct.unpack_from("<I", data)[0] in PCAP else ">"
    magic, network = struct.unpack_from(f"{order}I16xI", data)
    ticks_per_s, head_bytes = PCAP[magic]
    fcs_bytes = 2 * (network >> 28) if network & FCS_KNOWN else 0
    record = struct.Struct(f"{order}IIII" + ("I4x" if head_bytes > 16 else ""))
    interface = Interface(0, network & LINK_TYPE, ticks_per_s, fcs_bytes)
    tick_ns, at, number = 10**9 // ticks_per_s, PCAP_HEAD, 0
    while at < len(data):
        number += 1
        if at + head_bytes > len(data):
            return notes.append(_cut("packet", number))
        seconds, ticks, captured, wire, *index = record.unpack_from(data, at)
        if captured > LONGEST:
            raise field_error(f"{path}: packet {number}", "length", captured, f"at most {LONGEST}: {RULE}")
        if ticks >= ticks_per_s:
            rule = f"below {ticks_per_s}, by the file's first bytes: times in a finer unit than they state"
            raise field_error(f"{path}: packet {number}", "fraction of its second", ticks, rule)
        at += head_bytes
        if at + captured > len(data):
            return notes.append(_cut("packet", number))
        where = interface._replace(number=index[0]) if index else interface
        frame = data[at : at + captured]
        yield Frame(seconds * 10**9 + ticks * tick_ns, where, frame, max(wire, captured) - fcs_bytes)
        at += captured
    return None


def _of_pcapng(path: Path, data: bytes, notes: list[str]) -> Iterator[Frame]:
    order, at, block = "<", 0, 0
    interfaces: list[Interface] = []
    known = 0  # interfaces of all sections
    dropped: dict[tuple[int, int], int] = {}  # by interface and option; a later count has the earlier ones
    while at < len(data):
        block += 1
        if at + BLOCK_LEAST > len(data):
            notes.append(_cut("block", block))
            break
        if data[at : at + 4] in MAGICS[-2:]:
            order = "<" if struct.unpack_from("<I", data, at + 8)[0] == BYTE_ORDER else ">"
            interfaces = []
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if length < BLOCK_LEAST or length % 4 or length > LONGEST:
            raise field_error(
                f"{path}: block {block}", "length", length, f"a multiple of 4 from 12 to {LONGEST}: {RULE}"
            )
        if at + length > len(data):
            notes.append(_cut("block", block))
            break
        body = data[at : at + length - 4]
        if data[at + length - 4 : at + length] != data[at + 4 : at + 8]:
            raise UserError(f"{path}: block {block}: ends with another length than it begins with: {RULE}")
        if kind == INTERFACE:
            interfaces.append(_interface(path, body, order, known))
            known += 1
        elif kind == STATISTICS and len(body) >= STATISTICS_HEAD:
            dropped |= _dropped(body, order, known - len(interfaces))
        elif kind in (PACKET, OLD_PACKET):
            yield _packet(path, block, body, order, interfaces)
        elif kind == SIMPLE_PACKET:
            raise UserError(
                f"{path}: block {block}: is a packet without a time: must be a capture whose packets have one"
            )
        at += length
    if count := sum(dropped.values()):
        notes.append(f"{count} packets were dropped where they were captured, by the file's count: not in the rate.")


def _dropped(body: bytes, order: str, before: int) -> dict[tuple[int, int], int]:
    """Read what an interface's statistics count as dropped; `before`: interfaces of the sections before."""
    (number,) = struct.unpack_from(f"{order}I", body, 8)
    options = _options(body, STATISTICS_HEAD, order)
    counts = {code: options[code] for code in DROPPED if len(options.get(code, b"")) == 8}
    return {(before + number, code): struct.unpack(f"{order}Q", each)[0] for code, each in counts.items()}


def _options(body: bytes, at: int, order: str) -> dict[int, bytes]:
    """Read a block's options; of several alike the first counts."""
    found: dict[int, bytes] = {}
    while at + 4 <= len(body):
        code, length = struct.unpack_from(f"{order}HH", body, at)
        found.setdefault(code, body[at + 4 : at + 4 + length])
        at += 4 + (length + 3) // 4 * 4
    return found


def _packet(path: Path, block: int, body: bytes, order: str, interfaces: list[Interface]) -> Frame:
    if len(body) < PACKET_HEAD:
        raise field_error(f"{path}: block {block}", "length", len(body) + 4, f"at least {PACKET_HEAD + 4}: {RULE}")
    kind, index, high, low, captured, wire = struct.unpack_from(f"{order}I4x5I", body)
    if kind == OLD_PACKET:
        (index,) = struct.unpack_from(f"{order}H", body, 8)
    if index >= len(interfaces):
        raise field_error(f"{path}: block {block}", "interface", index, f"one of the section's {len(interfaces)}")
    if PACKET_HEAD + captured > len(body):
        raise field_error(f"{path}: block {block}", "length", captured, f"at most that of its block: {RULE}")
    interface = interfaces[index]
    t_ns = (high << 32 | low) * 10**9 // interface.ticks_per_s + interface.offset_s * 10**9
    frame = body[PACKET_HEAD : PACKET_HEAD + captured]
    return Frame(t_ns, interface, frame, max(wire, captured) - interface.fcs_bytes)


def _interface(path: Path, body: bytes, order: str, number: int) -> Interface:
    if len(body) < INTERFACE_HEAD:
        raise field_error(path, "interface", number, f"described in 20 bytes at least: {RULE}")
    (link,) = struct.unpack_from(f"{order}H", body, 8)
    found = _options(body, INTERFACE_HEAD, order)
    resolution = (found.get(TSRESOL) or b"\x06")[0]
    ticks_per_s = 1 << (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    offset = found.get(TSOFFSET, b"")
    offset_s = struct.unpack(f"{order}q", offset)[0] if len(offset) == 8 else 0
    fcs = (found.get(FCSLEN) or b"\0")[0]
    return Interface(number, link, ticks_per_s, fcs // 8 if fcs >= LEAST_FCS_BITS else fcs, offset_s)


def _cut(what: str, number: int) -> str:
    return f"The last {what} (number {number}) is cut short by the file's end: left out."
