# SPDX-License-Identifier: GPL-2.0-or-later
"""The same download gives the same rate and round trip in each form of capture that users have."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from captures_of_users import CLIENT6, SERVER6, download, ethernet, ip6, pcap, pcapng

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording

PLAIN = download()
TAG = struct.pack(">HH", 0x8100, 7)


def vlan(packet: bytes) -> bytes:
    return bytes(12) + TAG + TAG + b"\x08\x00" + packet


def mpls(packet: bytes) -> bytes:
    return bytes(12) + b"\x88\x47" + struct.pack(">II", 16 << 12 | 64, 17 << 12 | 0x100 | 64) + packet


def pppoe(packet: bytes) -> bytes:
    return bytes(12) + struct.pack(">HBBHHH", 0x8864, 0x11, 0, 1, len(packet) + 2, 0x21) + packet


def cooked(packet: bytes) -> bytes:
    return struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800) + packet


def cooked2(packet: bytes, interface: int = 2, direction: int = 0) -> bytes:
    return struct.pack(">HHIHBB8s", 0x0800, 0, interface, 1, direction, 6, bytes(8)) + packet


def rates(recording: Recording) -> tuple[float, float]:
    frame = recording.frame
    return sum(frame["rate_down_mbps"]) / len(frame), frame["rtt_ms"].drop_nulls()[0]


PLAIN_RATES = (1.0123733333333333, 50.0)  # over 0.6 s; 1.2 Mb/s while it lasts


@pytest.mark.parametrize(
    ("link", "frame"),
    [
        (1, ethernet),
        (1, vlan),
        (1, mpls),
        (1, pppoe),
        (1, lambda packet: bytes(12) + struct.pack(">H", 8 + len(packet)) + b"\xaa\xaa\3\0\0\0\x08\0" + packet),
        (1 | 1 << 26 | 2 << 28, lambda packet: ethernet(packet) + bytes(4)),
        (113, cooked),
        (276, cooked2),
        (9, lambda packet: b"\xff\x03\0\x21" + packet),
        (9, lambda packet: b"\x21" + packet),
        (166, lambda packet: b"\x01\x03\0\x21" + packet),
        (50, lambda packet: b"\x0f\0\x08\0" + packet),
        (104, lambda packet: b"\x0f\0\x08\0" + packet),
        (0, lambda packet: struct.pack("<I", 2) + packet),
        (0, lambda packet: struct.pack(">I", 2) + packet),
        (108, lambda packet: struct.pack(">I", 2) + packet),
        *[(number, lambda packet: packet) for number in (12, 14, 101, 228)],
    ],
)
def test_each_link_type_is_passed(tmp_path: Path, link: int, frame: Callable[[bytes], bytes]) -> None:
    assert rates(importers.read(pcap(tmp_path / "made.pcap", PLAIN, link, frame))) == pytest.approx(PLAIN_RATES)


@pytest.mark.parametrize("options", [{}, {"ip": ip6, "client": CLIENT6, "server": SERVER6}])
def test_a_length_of_zero_is_that_of_the_frame_without_its_check_sequence(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    stated = importers.read(pcap(tmp_path / "stated.pcap", download(**options, size=14480)))
    unstated = download(**options, size=14480, zero=True)
    link = 1 | 1 << 26 | 2 << 28
    recording = importers.read(pcap(tmp_path / "zero.pcap", unstated, link, lambda packet: ethernet(packet) + bytes(4)))
    assert recording.frame.equals(stated.frame)
    assert recording.notes[0].startswith("60 packets state no IP length")


def test_each_interface_has_its_own_clock_and_link_type(tmp_path: Path) -> None:
    file = pcapng(tmp_path / "made.pcapng", PLAIN, [(1, 6), (127, 6), (101, 9)])
    assert rates(importers.read(file)) == pytest.approx(PLAIN_RATES)
    sections = pcapng(tmp_path / "one.pcapng", PLAIN[:60], [(1, 6)]).read_bytes()
    sections += pcapng(tmp_path / "two.pcapng", PLAIN[60:], [(9, 3), (101, 9)]).read_bytes()
    file.write_bytes(sections)
    assert rates(importers.read(file)) == pytest.approx(PLAIN_RATES)


@pytest.mark.parametrize(
    "places", [((2, 0), (3, 0)), ((2, 0), (3, 4)), ((2, 0), (2, 4))], ids=["bridge", "router", "loopback"]
)
def test_what_two_interfaces_or_directions_show_counts_once(tmp_path: Path, places: tuple[Any, Any]) -> None:
    """The second place is 20 ms of queue further on; it has another TTL and checksum, as behind a router."""
    first = [(t_s, cooked2(packet, *places[0])) for t_s, packet in PLAIN]
    later = [(t_s + 0.02, cooked2(packet[:8] + b"\x3f" + packet[9:], *places[1])) for t_s, packet in PLAIN]
    file = pcap(tmp_path / "made.pcap", sorted(first + later), 276, lambda packet: packet)
    recording = importers.read(file)
    assert recording.notes[0] == "123 of 246 packets are copies of others: each is counted once."
    assert sum(recording.frame["rate_down_mbps"]) == pytest.approx(PLAIN_RATES[0] * 6, rel=0.03)
    assert recording.frame["rtt_ms"].drop_nulls()[0] == pytest.approx(50.0)


def test_exact_copies_count_once_and_what_was_sent_again_counts_again(tmp_path: Path) -> None:
    twice = [one for t_s, packet in PLAIN for one in ((t_s, packet), (t_s + 2e-6, packet))]
    assert rates(importers.read(pcap(tmp_path / "twice.pcap", twice))) == pytest.approx(PLAIN_RATES)
    again = [*PLAIN, *[(t_s + 5e-4, packet) for t_s, packet in PLAIN[11:43:2]]]
    recording = importers.read(pcap(tmp_path / "again.pcap", sorted(again)))
    assert sum(recording.frame["rate_down_mbps"]) > PLAIN_RATES[0] * 6 * 1.2
    assert not any("copies" in note for note in recording.notes)


def test_a_cut_last_packet_is_left_out_with_a_note(tmp_path: Path) -> None:
    recording = importers.read(pcap(tmp_path / "made.pcap", PLAIN, cut=30))
    assert recording.notes[0] == "The last packet (number 123) is cut short by the file's end: left out."
    file = pcapng(tmp_path / "made.pcapng", PLAIN, [(1, 6)])
    file.write_bytes(file.read_bytes()[:-30])
    assert importers.read(file).notes[0].startswith("The last block (number 125) is cut short")


def test_a_damaged_length_is_refused(tmp_path: Path) -> None:
    file = pcap(tmp_path / "made.pcap", PLAIN)
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, 24 + 8, 0xFFFFFFFF)
    file.write_bytes(bytes(data))
    with pytest.raises(UserError, match="packet 1: length=4294967295: must be at most"):
        importers.read(file)
