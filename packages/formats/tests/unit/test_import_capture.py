# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture gives the rate each way and the path's round trips, wherever it was taken."""

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from captures_of_users import CLIENT, SERVER, Timed, download, ip4, pcap, tcp

from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.traces import importers
from tests.brief import error_of

CAPTURED = REPO / "tests/data/draft/client.pcapng"
SEGMENT = 1000  # bytes, of which there are 100 a second


def made(folder: Path, seconds: int = 1, more: Sequence[Timed] = ()) -> Path:
    """Write a client's own capture of a download, and of what else there is."""
    return pcap(folder / "made.pcap", sorted([*download(size=SEGMENT, count=100 * seconds), *more]))


def echo(t_s: float, request: bool, number: int) -> Timed:
    ends = (CLIENT, SERVER) if request else (SERVER, CLIENT)
    return t_s, ip4(*ends, struct.pack(">BBHHH", 8 * request, 0, 0, 7, number) + bytes(56), protocol=1)


def test_the_labs_own_capture_shows_the_paths_100_ms() -> None:
    recording = importers.read(CAPTURED)
    assert (recording.format, recording.meaning) == ("pcap", "goodput")
    assert recording.frame["rtt_ms"].min() == pytest.approx(100.0, abs=0.01)
    assert recording.frame["rate_down_mbps"].max() == pytest.approx(1.0, abs=0.1)  # a 1 Mb/s path


def test_the_rate_is_that_of_ip_and_the_round_trip_that_of_the_far_side(tmp_path: Path) -> None:
    recording = importers.read(made(tmp_path, 3), step_ms=500.0)
    assert recording.frame["rate_down_mbps"][1:-1].to_list() == pytest.approx([1040 * 8 * 100 / 1e6] * 4, rel=0.03)
    assert recording.frame["rtt_ms"].drop_nulls().to_list() == pytest.approx([50.0], abs=0.01)


def test_echoes_are_round_trips(tmp_path: Path) -> None:
    frames = [item for n in range(20) for item in (echo(n, True, n), echo(n + 0.03, False, n))]
    recording = importers.read(pcap(tmp_path / "made.pcap", frames), step_ms=1000.0)
    assert recording.frame["rtt_ms"].to_list() == pytest.approx([30.0] * 19, abs=0.001)
    assert recording.meaning == "usage"


def test_what_was_sent_twice_is_not_timed(tmp_path: Path) -> None:
    key = ip4(CLIENT, SERVER, tcp(4000, 80, 100, 101_000, 0x18, 100))
    answer = ip4(SERVER, CLIENT, tcp(80, 4000, 101_000, 200, 0x10, 0))
    file = made(tmp_path, more=[(1.2, key), (1.8, key), (1.85, answer), (2.5, answer)])
    assert importers.read(file).frame["rtt_ms"].max() == pytest.approx(50.0, abs=0.01)


def test_the_users_side_may_be_named(tmp_path: Path) -> None:
    file = pcap(tmp_path / "made.pcap", download()[3:])  # without the handshake nobody opened it
    assert "user: must be given, for the capture holds neither a TCP SYN" in error_of(importers.read, file)
    swapped = importers.read(file, user=SERVER).frame
    assert swapped["rate_up_mbps"].mean() > swapped["rate_down_mbps"].mean()  # type: ignore[operator]
    assert "user=192.0.2.9: must be an address that the capture holds" in error_of(
        importers.read, file, user="192.0.2.9"
    )
    assert "user=home: must be an IP address" in error_of(importers.read, file, user="home")


def test_a_rate_that_contains_other_flows_says_so(tmp_path: Path) -> None:
    assert "The rate is what one TCP flow got." in importers.read(made(tmp_path, 3)).notes
    ports = (4000).to_bytes(2, "big"), (4001).to_bytes(2, "big")
    other = [(t_s + 0.5, packet.replace(*ports)) for t_s, packet in download(size=SEGMENT)[:33]]
    shared = importers.read(made(tmp_path, 3, other))
    assert "The rate is what one TCP flow got, with 4.8% of the bytes that are of others." in shared.notes


@pytest.mark.parametrize(("back_s", "far"), [(0.5, "; one by 0.5 s, and if a clock was set back then"), (0.015, "")])
def test_packets_that_are_sorted_may_show_a_clock_that_was_set_back(tmp_path: Path, back_s: float, far: str) -> None:
    frames = [(t_s - (back_s if t_s > 1.500001 else 0), data) for t_s, data in download(count=300)]
    notes = importers.read(pcap(tmp_path / "made.pcap", frames)).notes
    expected = f"1 packets are older than the one before them in the file: sorted by time{far}"
    assert [note.startswith(expected) and (bool(far) or note == f"{expected}.") for note in notes].count(True) == 1


def test_a_capture_without_packets_is_refused(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.write_bytes(file.read_bytes()[:24])
    assert "must be a capture with IP packets" in error_of(importers.read, file)


@pytest.mark.parametrize(
    ("link", "name"), [(220, r"USB \(Linux\)"), (147, "private use"), (299, "number 299 of tcpdump's list")]
)
def test_a_link_type_that_is_not_read_is_named(tmp_path: Path, link: int, name: str) -> None:
    file = made(tmp_path)
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, 20, link)
    file.write_bytes(bytes(data))
    with pytest.raises(UserError, match=f"link type={name}.*: must be one of Ethernet, BSD loopback"):
        importers.read(file)
