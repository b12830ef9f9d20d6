# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture gives the rate each way and the path's round trips, wherever it was taken."""

import struct
from pathlib import Path

import dpkt  # type: ignore[import-untyped]
import pytest

from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.traces import importers
from tests.brief import error_of

CAPTURED = REPO / "tests/data/draft/client.pcapng"
CLIENT, SERVER = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
START_S = 1_700_000_000
SYN, ACK, PUSH = dpkt.tcp.TH_SYN, dpkt.tcp.TH_ACK, dpkt.tcp.TH_PUSH
Frame = tuple[float, bytes]


def segment(t_s: float, to_client: bool, seq: int, ack: int, flags: int, size: int = 0) -> Frame:
    ports = (5201, 40_000) if to_client else (40_000, 5201)
    tcp = dpkt.tcp.TCP(sport=ports[0], dport=ports[1], seq=seq, ack=ack, flags=flags, data=bytes(size))
    ends = (SERVER, CLIENT) if to_client else (CLIENT, SERVER)
    ip = dpkt.ip.IP(src=ends[0], dst=ends[1], p=dpkt.ip.IP_PROTO_TCP, data=tcp)
    ip.len = len(ip)
    return t_s, bytes(dpkt.ethernet.Ethernet(data=ip, type=dpkt.ethernet.ETH_TYPE_IP))


def echo(t_s: float, request: bool, number: int) -> Frame:
    body = dpkt.icmp.ICMP.Echo(id=7, seq=number, data=bytes(56))
    icmp = dpkt.icmp.ICMP(type=8 if request else 0, data=body)
    ends = (CLIENT, SERVER) if request else (SERVER, CLIENT)
    ip = dpkt.ip.IP(src=ends[0], dst=ends[1], p=dpkt.ip.IP_PROTO_ICMP, data=icmp)
    ip.len = len(ip)
    return t_s, bytes(dpkt.ethernet.Ethernet(data=ip, type=dpkt.ethernet.ETH_TYPE_IP))


def written(folder: Path, frames: list[Frame]) -> Path:
    file = folder / "made.pcap"
    with file.open("wb") as out:
        writer = dpkt.pcap.Writer(out, nano=True)
        for t_s, frame in frames:
            writer.writepkt(frame, ts=START_S + t_s)
    return file


def download(rtt_s: float, seconds: int) -> list[Frame]:
    """A client's own capture: 100 segments of 1000 bytes a second, each acknowledged at once."""
    frames = [segment(0.0, False, 0, 0, SYN), segment(rtt_s, True, 0, 1, SYN | ACK), segment(rtt_s, False, 1, 1, ACK)]
    for number in range(100 * seconds):
        t_s = rtt_s + 0.01 * (number + 1)
        frames.append(segment(t_s, True, 1 + 1000 * number, 1, ACK, 1000))
        frames.append(segment(t_s + 1e-5, False, 1, 1001 + 1000 * number, ACK))
    return frames


def test_the_labs_own_capture_shows_the_paths_100_ms() -> None:
    recording = importers.read(CAPTURED)
    assert (recording.format, recording.meaning) == ("pcap", "goodput")
    assert recording.frame["rtt_ms"].min() == pytest.approx(100.0, abs=0.01)
    assert recording.frame["rate_down_mbps"].max() == pytest.approx(1.0, abs=0.1)  # a 1 Mb/s path


def test_the_rate_is_that_of_ip_and_the_round_trip_that_of_the_far_side(tmp_path: Path) -> None:
    recording = importers.read(written(tmp_path, download(0.05, 3)), step_ms=500.0)
    assert recording.frame["rate_down_mbps"][1:-1].to_list() == pytest.approx([1040 * 8 * 100 / 1e6] * 4, rel=0.03)
    assert recording.frame["rtt_ms"].drop_nulls().to_list() == pytest.approx([50.0], abs=0.01)


def test_echoes_are_round_trips(tmp_path: Path) -> None:
    frames = [item for n in range(20) for item in (echo(n, True, n), echo(n + 0.03, False, n))]
    recording = importers.read(written(tmp_path, frames), step_ms=1000.0)
    assert recording.frame["rtt_ms"].to_list() == pytest.approx([30.0] * 19, abs=0.001)
    assert recording.meaning == "usage"


def test_what_was_sent_twice_is_not_timed(tmp_path: Path) -> None:
    frames = [
        *download(0.05, 1),
        segment(1.2, False, 1, 100_001, ACK | PUSH, 100),
        segment(1.8, False, 1, 100_001, ACK | PUSH, 100),  # again
        segment(1.85, True, 100_001, 101, ACK),
        segment(2.5, True, 100_001, 101, ACK),
    ]
    assert importers.read(written(tmp_path, frames)).frame["rtt_ms"].max() == pytest.approx(50.0, abs=0.01)


def test_the_users_side_may_be_named(tmp_path: Path) -> None:
    file = written(tmp_path, download(0.05, 2)[3:])  # without the handshake nobody opened it
    assert "user: must be given, for the capture holds neither a TCP SYN" in error_of(importers.read, file)
    swapped = importers.read(file, user="10.0.0.2").frame
    assert swapped["rate_up_mbps"].mean() > swapped["rate_down_mbps"].mean()  # type: ignore[operator]
    assert "user=10.0.0.9: must be an address that the capture holds" in error_of(importers.read, file, user="10.0.0.9")
    assert "user=home: must be an IP address" in error_of(importers.read, file, user="home")


def of_another(frame: Frame, at_s: float) -> Frame:
    """Return a segment of a second connection, of another port of the client."""
    return frame[0] + at_s, frame[1].replace((40_000).to_bytes(2, "big"), (40_001).to_bytes(2, "big"))


def test_a_rate_that_contains_other_flows_says_so(tmp_path: Path) -> None:
    frames = download(0.05, 3)
    alone = importers.read(written(tmp_path, frames))
    assert "The rate is what one TCP flow got." in alone.notes
    more = sorted([*frames, *(of_another(each, 0.5) for each in frames[:33])])
    shared = importers.read(written(tmp_path, more))
    assert "The rate is what one TCP flow got, with 4.8% of the bytes that are of others." in shared.notes


@pytest.mark.parametrize(("back_s", "far"), [(0.5, "; one by 0.5 s, and if a clock was set back then"), (0.015, "")])
def test_packets_that_are_sorted_may_show_a_clock_that_was_set_back(tmp_path: Path, back_s: float, far: str) -> None:
    frames = [(t_s - (back_s if t_s > 1.5 else 0), data) for t_s, data in download(0.05, 3)]
    notes = importers.read(written(tmp_path, frames)).notes
    expected = f"1 packets are older than the one before them in the file: sorted by time{far}"
    assert [note.startswith(expected) and (bool(far) or note == f"{expected}.") for note in notes].count(True) == 1


def test_a_capture_without_packets_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, download(0.05, 1))
    file.write_bytes(file.read_bytes()[:24])
    assert "must be a capture with IP packets" in error_of(importers.read, file)


@pytest.mark.parametrize(
    ("link", "name"), [(220, r"USB \(Linux\)"), (147, "private use"), (299, "number 299 of tcpdump's list")]
)
def test_a_link_type_that_is_not_read_is_named(tmp_path: Path, link: int, name: str) -> None:
    file = written(tmp_path, download(0.05, 1))
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, 20, link)
    file.write_bytes(bytes(data))
    with pytest.raises(UserError, match=f"link type={name}.*: must be one of Ethernet, BSD loopback"):
        importers.read(file)
