# SPDX-License-Identifier: GPL-2.0-or-later
"""The same download gives the same rate and round trip within each link layer and tunnel that users have."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from captures_of_users import CLIENT6, PLAIN, PLAIN_RATES, SERVER6, cooked2, download, ethernet, ip6, pcap, rates, vlan

from lab.traces import importers
from tests.brief import error_of


def mpls(packet: bytes) -> bytes:
    return bytes(12) + b"\x88\x47" + struct.pack(">II", 16 << 12 | 64, 17 << 12 | 0x100 | 64) + packet


def pppoe(packet: bytes) -> bytes:
    return bytes(12) + struct.pack(">HBBHHH", 0x8864, 0x11, 0, 1, len(packet) + 2, 0x21) + packet


def cooked(packet: bytes) -> bytes:
    return struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800) + packet


def outer(protocol: int, head: bytes) -> Callable[[bytes], bytes]:
    """Put packets into a tunnel between other ends."""

    def frame(packet: bytes) -> bytes:
        size = 20 + len(head) + len(packet)
        ends = b"\x0a\0\0\1\x0a\0\0\2" if packet[15] == 2 else b"\x0a\0\0\2\x0a\0\0\1"
        return ethernet(struct.pack(">BBHHHBBH", 0x45, 0, size, 1, 0, 64, protocol, 0) + ends + head + packet)

    return frame


def to_port(port: int, head: bytes) -> Callable[[bytes], bytes]:
    return outer(17, struct.pack(">HHHH", 9, port, 0, 0) + head)


def wifi(flags: int = 0x02, control: bytes = b"\x88", middle: bytes = b"\0\0") -> Callable[[bytes], bytes]:
    return lambda packet: control + bytes([flags]) + bytes(22) + middle + b"\xaa\xaa\3\0\0\0\x08\0" + packet


def on_air(packet: bytes, number: int, retry: bool = False, broken: bool = False, timed: bool = False) -> bytes:
    """A frame of 802.11 with its number, behind a radiotap header of its flags, or of a time and these."""
    data = bytearray(wifi(0x0A if retry else 0x02)(packet))
    struct.pack_into("<H", data, 22, number << 4)
    words = struct.pack("<II", 1 << 31 | 3, 0) + bytes(4 + 8) if timed else struct.pack("<I", 2)
    return struct.pack("<BBH", 0, 0, 5 + len(words)) + words + bytes([0x40 * broken]) + data


def netfilter(packet: bytes) -> bytes:
    return b"\2\0\0\0" + struct.pack("<HH4sHH", 8, 1, b"\x08\0\1\0", len(packet) + 4, 9) + packet


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
        (1, lambda packet: mpls(bytes(4) + ethernet(packet))),
        (1, lambda packet: mpls(ethernet(packet))),
        (1, lambda packet: bytes(12) + b"\x89\x26" + bytes(4) + ethernet(packet)[12:]),  # VN-Tag
        (1, lambda packet: bytes(12) + b"\x89\x3f" + bytes(6) + ethernet(packet)[12:]),  # E-Tag
        (1, lambda packet: bytes(12) + b"\x89\x03\0\0" + ethernet(packet)),  # FabricPath
        (1, lambda packet: bytes(12) + b"\x88\xe7" + bytes(4) + ethernet(packet)),  # 802.1ah
        (1, outer(4, b"")),
        (1, outer(47, b"\0\0\x08\0")),
        (1, outer(47, b"\x30\0\x65\x58" + bytes(8 + 12) + b"\x08\0")),
        (1, outer(47, b"\0\0\x88\xbe" + bytes(12) + b"\x08\0")),  # ERSPAN of types 1 to 3
        (1, outer(47, b"\x10\0\x88\xbe" + bytes(4 + 8 + 12) + b"\x08\0")),
        (1, outer(47, b"\x10\0\x22\xeb" + bytes(4 + 11) + b"\1" + bytes(8 + 12) + b"\x08\0")),
        (1, outer(47, b"\x30\x81\x88\x0b" + bytes(12) + b"\xff\3\0\x21")),  # PPTP
        *[(1, to_port(4789, bits + bytes(7 + 12) + b"\x08\0")) for bits in (b"\x08", b"\x88", b"\xff")],
        (1, to_port(4790, b"\x0c\0\0\1" + bytes(4))),  # VXLAN-GPE
        (1, to_port(4790, b"\x0c\0\0\3" + bytes(4 + 12) + b"\x08\0")),
        (1, to_port(4754, b"\0\0\x08\0")),  # GRE in UDP
        (1, outer(51, b"\4\4" + bytes(22))),  # AH
        (1, to_port(4790, b"\x0c\0\0\4" + bytes(4) + b"\x0f\xc6\1\1" + bytes(20))),  # NSH in VXLAN-GPE
        (1, to_port(4790, b"\x0c\0\0\4" + bytes(4) + b"\x0f\xc2\2\3" + bytes(4 + 12) + b"\x08\0")),
        (1, lambda packet: bytes(12) + b"\x89\x4f\x0f\xc2\2\1" + bytes(4) + packet),  # NSH
        (1, lambda packet: bytes(12) + b"\x89\x2f" + bytes(4) + ethernet(packet)[12:]),  # HSR
        (1, to_port(5072, b"\x42\x52\x11\4" + bytes(4 + 16 + 20))),  # AYIYA
        (1, to_port(1701, b"\0\2" + bytes(4) + b"\xff\3\0\x21")),  # L2TP
        (1, to_port(1701, b"\x4a\2" + bytes(2 + 4 + 4) + b"\0\3" + bytes(3) + b"\0\x21")),
        (1, to_port(4341, bytes(8))),  # LISP
        (1, to_port(6080, b"\2\4" + bytes(2 + 8))),  # GUE of version 0 and 1
        (1, to_port(6080, b"")),
        (1, to_port(6635, b"\0\1\1\x40")),  # MPLS in UDP, in IP
        (1, outer(137, b"\0\1\0\x40\0\1\1\x40")),
        (1, outer(97, b"\x30\0" + bytes(12) + b"\x08\0")),  # EtherIP
        (1, to_port(6081, b"\1\0\x65\x58" + bytes(4 + 4 + 12) + b"\x08\0")),
        (1, to_port(2152, b"\x30\xff" + bytes(6))),
        (1, to_port(2152, b"\x34\xff" + bytes(6) + b"\0\0\0\x85\1\0\x09\0")),
        (105, wifi()),
        (105, wifi(0x03, b"\x08", bytes(6))),
        (127, lambda packet: b"\0\0\x08\0" + bytes(4) + wifi(0x81, middle=bytes(6))(packet)),
        (192, lambda packet: b"\0\0\x08\0\x69\0\0\0" + wifi()(packet)),
        (119, lambda packet: b"\0\0\0\x44" + struct.pack("<I", 144) + bytes(136) + wifi()(packet)),
        (109, lambda packet: bytes(12) + packet),
        (239, netfilter),
    ],
)
def test_each_link_type_is_passed(tmp_path: Path, link: int, frame: Callable[[bytes], bytes]) -> None:
    assert rates(importers.read(pcap(tmp_path / "made.pcap", PLAIN, link, frame))) == pytest.approx(PLAIN_RATES)


@pytest.mark.parametrize("head", [b"", bytes(8), b"\0\1\0\0" + bytes(9 + 8)], ids=["plain", "origin", "both"])
def test_teredo_counts_the_packets_within_and_its_bubbles(tmp_path: Path, head: bytes) -> None:
    bubble = (0.09, ip6(CLIENT6, SERVER6, b"")[:6] + b"\x3b" + ip6(CLIENT6, SERVER6, b"")[7:])
    six = sorted([*download(ip6, CLIENT6, SERVER6), bubble])
    found = importers.read(pcap(tmp_path / "teredo.pcap", six, 1, to_port(3544, head)))
    assert found.frame.equals(importers.read(pcap(tmp_path / "six.pcap", six)).frame)
    assert not any("state no IP length" in note for note in found.notes)


@pytest.mark.parametrize(
    "frame", [to_port(5247, bytes(8)), outer(115, bytes(4)), outer(55, bytes(8))], ids=["CAPWAP", "L2TP", "minimal"]
)
def test_a_tunnel_that_is_not_read_is_said(tmp_path: Path, frame: Callable[[bytes], bytes]) -> None:
    found = importers.read(pcap(tmp_path / "made.pcap", PLAIN, 1, frame), user="10.0.0.2")
    assert any(note.startswith("123 packets are within CAPWAP, L2TP over IP or another") for note in found.notes)


@pytest.mark.parametrize(
    ("frame", "words"),
    [(wifi(0x42), "123 encrypted (802.11)"), (wifi(middle=b"\x80\0"), "123 aggregates of several packets (A-MSDU")],
)
def test_what_cannot_be_read_of_the_air_is_said(tmp_path: Path, frame: Callable[[bytes], bytes], words: str) -> None:
    assert words in error_of(importers.read, pcap(tmp_path / "made.pcap", PLAIN, 105, frame))


def test_what_is_sent_again_on_the_air_counts_once(tmp_path: Path) -> None:
    """Every other frame is, without time stamps that would show it; another number is a segment sent again by TCP."""
    frames = [(t_s, on_air(packet, number)) for number, (t_s, packet) in enumerate(PLAIN)]
    frames += [(t_s + 0.003, on_air(packet, 2 * n, retry=True)) for n, (t_s, packet) in enumerate(PLAIN[::2])]
    recording = importers.read(pcap(tmp_path / "air.pcap", sorted(frames), 127, lambda frame: frame))
    assert rates(recording) == pytest.approx(PLAIN_RATES)
    assert "62 frames were sent again on the air (802.11) and stand twice: each counts once." in recording.notes
    again = [(t_s + 0.003, on_air(packet, 500 + n, retry=True)) for n, (t_s, packet) in enumerate(PLAIN[3:][::4])]
    sent = importers.read(pcap(tmp_path / "again.pcap", sorted(frames[:123] + again), 127, lambda frame: frame))
    assert rates(sent)[0] == pytest.approx(PLAIN_RATES[0] * 1.5, rel=0.02)


@pytest.mark.parametrize("timed", [False, True])
def test_frames_of_the_air_that_are_broken_do_not_count(tmp_path: Path, timed: bool) -> None:
    frames = [(t_s, on_air(packet, number, timed=timed)) for number, (t_s, packet) in enumerate(PLAIN)]
    for t_s, packet in PLAIN[3:]:
        frames.append((t_s - 2e-6, on_air(packet[:24] + b"\x77" + packet[25:], 0, broken=True, timed=timed)))
    recording = importers.read(pcap(tmp_path / "air.pcap", sorted(frames), 127, lambda frame: frame))
    assert rates(recording) == pytest.approx(PLAIN_RATES)
    assert "120 frames are broken, as their check sequence shows (802.11): left out." in recording.notes
