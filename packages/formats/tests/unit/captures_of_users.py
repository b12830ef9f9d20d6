# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in the forms that users have, each of one download.

It has 60 segments of 1448 bytes, one every 10 ms, and a round trip of 50 ms.
"""

import ipaddress
import struct
from collections.abc import Callable
from pathlib import Path

from lab.traces.recording import Recording

Timed = tuple[float, bytes]
Framing = Callable[[bytes], bytes]

CLIENT, SERVER = "192.0.2.2", "192.0.2.1"
CLIENT6, SERVER6 = "2001:db8::2", "2001:db8::1"


def tcp(source: int, target: int, seq: int, ack: int, flags: int, size: int) -> bytes:
    return struct.pack(">HHIIBBHHH", source, target, seq, ack, 5 << 4, flags, 65535, 0, 0) + b"x" * size


def ip4(source: str, target: str, segment: bytes, zero: bool = False, protocol: int = 6) -> bytes:
    ends = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    return struct.pack(">BBHHHBBH", 0x45, 0, 0 if zero else 20 + len(segment), 1, 0, 64, protocol, 0) + ends + segment


def ip6(source: str, target: str, segment: bytes, zero: bool = False) -> bytes:
    ends = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    return struct.pack(">IHBB", 6 << 28, 0 if zero else len(segment), 6, 64) + ends + segment


def download(
    ip: Callable[..., bytes] = ip4,
    client: str = CLIENT,
    server: str = SERVER,
    size: int = 1448,
    zero: bool = False,
    seq: int = 1000,
    count: int = 60,
) -> list[Timed]:
    packets = [
        (0.0, ip(client, server, tcp(4000, 80, 99, 0, 2, 0))),
        (0.05, ip(server, client, tcp(80, 4000, seq - 1, 100, 0x12, 0))),
        (0.05001, ip(client, server, tcp(4000, 80, 100, seq, 0x10, 0))),
    ]
    for number in range(count):
        t_s, at = 0.1 + number * 0.01, seq + number * size
        packets.append((t_s, ip(server, client, tcp(80, 4000, at % 2**32, 100, 0x10, size), zero)))
        packets.append((t_s + 1e-5, ip(client, server, tcp(4000, 80, 100, (at + size) % 2**32, 0x10, 0))))
    return packets


def ethernet(packet: bytes) -> bytes:
    return bytes(12) + (b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00") + packet


def pcap(
    file: Path, packets: list[Timed], link: int = 1, frame: Framing = ethernet, cut: int = 0, snap: int = 262144
) -> Path:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)
    for t_s, packet in packets:
        whole = frame(packet)
        kept = whole[:snap]
        data += struct.pack("<IIII", 1700000000 + int(t_s), round(t_s % 1 * 1e6), len(kept), len(whole)) + kept
    file.write_bytes(data[: len(data) - cut])
    return file


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(file: Path, packets: list[Timed], interfaces: list[tuple[int, int]]) -> Path:
    """`interfaces`: link type and digits of a second; all packets are of the last."""
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link, digits in interfaces:
        data += block(1, struct.pack("<HHI", link, 0, 262144) + struct.pack("<HHBBBBHH", 9, 1, digits, 0, 0, 0, 0, 0))
    link, digits = interfaces[-1]
    for t_s, packet in packets:
        ticks = 1700000000 * 10**digits + round(t_s * 10**digits)
        frame = ethernet(packet) if link == 1 else packet
        head = struct.pack("<IIIII", len(interfaces) - 1, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
        data += block(6, head + frame)
    file.write_bytes(data)
    return file


PLAIN = download()
TAG = struct.pack(">HH", 0x8100, 7)


def vlan(packet: bytes) -> bytes:
    return bytes(12) + TAG + TAG + b"\x08\x00" + packet


def cooked2(packet: bytes, interface: int = 2, direction: int = 0) -> bytes:
    return struct.pack(">HHIHBB8s", 0x0800, 0, interface, 1, direction, 6, bytes(8)) + packet


def rates(recording: Recording) -> tuple[float, float]:
    frame = recording.frame
    return sum(frame["rate_down_mbps"]) / len(frame), frame["rtt_ms"].drop_nulls()[0]


PLAIN_RATES = (1.0123733333333333, 50.0)  # over 0.6 s; 1.2 Mb/s while it lasts
