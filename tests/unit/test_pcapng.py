# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture's blocks are found and their clock understood; what the lab does not read is refused by name."""

import struct
from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.tables.pcapng import read_pcapng

CAPTURE = Path(__file__).parents[1] / "data/draft/client.pcapng"
SNAPLEN_BYTES = 96


def block(kind: int, body: bytes) -> bytes:
    padded = body + bytes(-len(body) % 4)
    length = struct.pack("<I", 12 + len(padded))
    return struct.pack("<I", kind) + length + padded + length


def option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(link_type: int = 1, options: bytes = b"") -> bytes:
    return block(1, struct.pack("<HHI", link_type, 0, SNAPLEN_BYTES) + options)


def packet(ticks: int, data: bytes, wire_bytes: int) -> bytes:
    return block(6, struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), wire_bytes) + data)


def written(folder: Path, *blocks: bytes) -> Path:
    file = folder / "capture.pcapng"
    file.write_bytes(b"".join(blocks))
    return file


def test_a_real_capture_holds_as_many_frames_as_dumpcap_counted() -> None:
    frames = read_pcapng(CAPTURE, SNAPLEN_BYTES)
    assert len(frames.time_ns) == 444
    assert frames.captured_bytes.max() == SNAPLEN_BYTES
    assert frames.wire_bytes.max() == 1514
    assert (frames.time_ns[1:] >= frames.time_ns[:-1]).all()
    assert 1_700_000_000 <= frames.time_ns[0] / 1e9 < 1_700_000_010  # the virtual kernel's own date


@pytest.mark.parametrize(
    ("options", "tick_ns"),
    [
        (b"", 1000),
        (option(9, bytes([6])), 1000),
        (option(9, bytes([9])), 1),
        (option(2, b"eth1") + option(9, bytes([9])) + option(0, b""), 1),
    ],
)
def test_the_clock_ticks_as_the_interface_states(tmp_path: Path, options: bytes, tick_ns: int) -> None:
    file = written(tmp_path, SECTION, interface(options=options), packet(2**33 + 5, b"x", 60))
    assert list(read_pcapng(file, SNAPLEN_BYTES).time_ns) == [(2**33 + 5) * tick_ns]


def test_a_short_frame_is_followed_by_zeros_and_other_blocks_are_passed_over(tmp_path: Path) -> None:
    file = written(tmp_path, SECTION, interface(), packet(1, b"abc", 60), packet(2, bytes(range(1, 97)), 1514))
    frames = read_pcapng(file, SNAPLEN_BYTES)
    assert bytes(frames.head[0]) == b"abc".ljust(SNAPLEN_BYTES, b"\0")
    assert list(frames.captured_bytes) == [3, 96]
    assert list(frames.wire_bytes) == [60, 1514]
    statistics = block(5, bytes(12))
    file = written(tmp_path, SECTION, interface(), statistics, packet(1, b"abc", 60), statistics)
    assert len(read_pcapng(file, SNAPLEN_BYTES).time_ns) == 1
    assert len(read_pcapng(written(tmp_path, SECTION, interface()), SNAPLEN_BYTES).time_ns) == 0


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ((SECTION, interface(link_type=101)), r"link_type=101: must be 1 \(Ethernet\)"),
        ((SECTION, interface(options=option(9, bytes([3])))), "if_tsresol=3: must be 6 or 9"),
        ((SECTION[:8] + SECTION[11:7:-1] + SECTION[12:],), "must be a pcapng capture"),  # of the other byte order
        ((SECTION, interface(), packet(1, b"abc", 60)[:-6]), "must be a whole capture"),
        ((SECTION, struct.pack("<II", 6, 4)), "must be a whole capture"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, blocks: tuple[bytes, ...], words: str) -> None:
    with pytest.raises(UserError, match=rf"capture\.pcapng: .*{words}"):
        read_pcapng(written(tmp_path, *blocks), SNAPLEN_BYTES)
