# SPDX-License-Identifier: GPL-2.0-or-later
"""The same download gives the same rate and round trip in each form of capture that users have."""

import ipaddress
import struct
from pathlib import Path
from typing import Any

import pytest
from captures_of_users import (
    CLIENT,
    CLIENT6,
    PLAIN,
    PLAIN_RATES,
    SERVER,
    SERVER6,
    block,
    cooked2,
    download,
    ethernet,
    ip4,
    ip6,
    pcap,
    pcapng,
    rates,
    tcp,
    vlan,
)

from lab.base.errors import UserError
from lab.traces import importers


@pytest.mark.parametrize("options", [{}, {"ip": ip6, "client": CLIENT6, "server": SERVER6}])
def test_a_length_of_zero_is_that_of_its_frame_without_the_check(tmp_path: Path, options: dict[str, Any]) -> None:
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
    twice = [one for t_s, packet in PLAIN for one in ((t_s, ethernet(packet)), (t_s + 2e-6, vlan(packet)))]
    file = pcap(tmp_path / "twice.pcap", twice, 1, lambda frame: frame)
    assert rates(importers.read(file)) == pytest.approx(PLAIN_RATES)
    again = [*PLAIN, *[(t_s + 5e-4, packet) for t_s, packet in PLAIN[11:43:2]]]
    recording = importers.read(pcap(tmp_path / "again.pcap", sorted(again)))
    assert sum(recording.frame["rate_down_mbps"]) > PLAIN_RATES[0] * 6 * 1.2
    assert not any("copies" in note for note in recording.notes)


def translated(packet: bytes, end: str, to: str, port: int) -> bytes:
    """Give one end of a packet another address and port, as a container's host does."""
    data, old = bytearray(packet), ipaddress.ip_address(end).packed
    for number, at in enumerate((12, 16)):
        if packet[at : at + 4] == old:
            data[at : at + 4] = ipaddress.ip_address(to).packed
            struct.pack_into(">H", data, 20 + 2 * number, port)
    return bytes(data)


@pytest.mark.parametrize(("end", "port"), [(SERVER, 8080), (CLIENT, 4000)], ids=["a server", "a client"])
def test_what_stands_again_under_translated_addresses_counts_once(tmp_path: Path, end: str, port: int) -> None:
    """`tcpdump -i any` on the host of a container: outside, on its bridge, and on its own interface."""
    places = [(t_s + 1e-5, cooked2(translated(packet, end, "172.17.0.2", port), 3, 4)) for t_s, packet in PLAIN]
    places += [(t_s + 1.1e-5, cooked2(translated(packet, end, "172.17.0.2", port), 4, 4)) for t_s, packet in PLAIN]
    outside = [(t_s, cooked2(packet)) for t_s, packet in PLAIN]
    recording = importers.read(pcap(tmp_path / "any.pcap", sorted(outside + places), 276, lambda packet: packet))
    assert rates(recording) == pytest.approx(PLAIN_RATES)
    assert recording.notes[0].startswith("1 connections stand again under translated addresses (NAT): each counts once")


def test_two_connections_of_the_same_hosts_both_count(tmp_path: Path) -> None:
    """A simulator may begin each with the same numbers."""
    second = [(t_s + 1e-4, translated(packet, CLIENT, CLIENT, 4001)) for t_s, packet in PLAIN]
    recording = importers.read(pcap(tmp_path / "two.pcap", sorted(PLAIN + second)))
    assert rates(recording)[0] == pytest.approx(2 * PLAIN_RATES[0], rel=0.02)  # one lies behind the end


def test_the_user_is_who_opened_the_largest_conversation(tmp_path: Path) -> None:
    scan = [(-0.01, ip4("203.0.113.9", CLIENT, tcp(9, 22, 1, 0, 2, 0)))]
    recording = importers.read(pcap(tmp_path / "made.pcap", [(t_s + 1, packet) for t_s, packet in scan + PLAIN]))
    assert rates(recording) == pytest.approx(PLAIN_RATES, rel=0.01)


def test_without_a_begin_the_ends_are_named_and_no_round_trip_is_made_up(tmp_path: Path) -> None:
    file = pcap(tmp_path / "made.pcap", PLAIN[3:])
    with pytest.raises(UserError, match=r"an echo request: --set user=192\.0\.2\.\d or --set user=192"):
        importers.read(file)
    recording = importers.read(file, user=CLIENT)
    assert recording.frame["rtt_ms"].null_count() == recording.frame.height
    assert "One end alone answers, after 0.010 ms in the median" in "".join(recording.notes)


def typed(delayed_s: float, rtt_s: float = 0.02) -> list[Any]:
    """A shell at the client: each key is echoed after a round trip, and the echo's ACK is delayed."""
    packets = PLAIN[:3]
    for number in range(20):
        t_s, key, echoed = 1 + 0.3 * number, 100 + number, 1000 + number
        packets += [
            (t_s, ip4(CLIENT, SERVER, tcp(4000, 80, key, echoed, 0x18, 1))),
            (t_s + rtt_s, ip4(SERVER, CLIENT, tcp(80, 4000, echoed, key + 1, 0x18, 1))),
            (t_s + rtt_s + delayed_s, ip4(CLIENT, SERVER, tcp(4000, 80, key + 1, echoed + 1, 0x10, 0))),
        ]
    return packets


def test_a_delayed_ack_is_no_round_trip(tmp_path: Path) -> None:
    recording = importers.read(pcap(tmp_path / "typed.pcap", typed(0.04)))
    assert recording.frame["rtt_ms"].drop_nulls().median() == pytest.approx(20.0, abs=0.01)
    late = [(t_s + 0.04 * (len(packet) == 40), packet) for t_s, packet in PLAIN[3:]]
    notes = " ".join(importers.read(pcap(tmp_path / "alone.pcap", late), user=CLIENT).notes)
    assert "after 40.010 ms in the median: if the capture was taken there, that is a delayed ACK" in notes


def test_a_capture_between_the_ends_says_which_part_its_round_trips_are_of(tmp_path: Path) -> None:
    shifted = [(t_s + (0.02 if packet[15] == 2 else -0.005), packet) for t_s, packet in PLAIN]
    recording = importers.read(pcap(tmp_path / "made.pcap", sorted(shifted)))
    assert "that of the way to the other end, without the 25.0 ms of this one" in "".join(recording.notes)


def test_who_opened_a_smaller_conversation_is_the_user_only_with_a_note(tmp_path: Path) -> None:
    scan, own = (ip4(*ends, tcp(9, 22, 1, 0, 2, 0)) for ends in (("203.0.113.9", CLIENT), (CLIENT, "203.0.113.9")))
    with pytest.raises(UserError, match="user: must be given, for the begin of the largest conversation was not capt"):
        importers.read(pcap(tmp_path / "scan.pcap", sorted([(0.2, scan), *PLAIN[3:]])))
    recording = importers.read(pcap(tmp_path / "own.pcap", sorted([(0.2, own), *PLAIN[3:]])))
    assert recording.notes[0].endswith("the user is taken to be 192.0.2.2, who opened another (--set user=ADDRESS).")


def test_a_header_that_is_cut_and_a_time_that_goes_back_are_said(tmp_path: Path) -> None:
    short = [(t_s, packet[:50]) for t_s, packet in download(ip6, CLIENT6, SERVER6)]
    with pytest.raises(UserError, match="packets: must hold whole TCP headers, and 123 are cut: capture with a snap"):
        importers.read(pcap(tmp_path / "short.pcap", short))
    recording = importers.read(pcap(tmp_path / "mixed.pcap", PLAIN[::2] + PLAIN[1::2]))
    assert rates(recording) == pytest.approx(PLAIN_RATES)
    words = (
        "1 packets are older than the one before them in the file: sorted by time; one by 0.64 s, and if a clock was"
    )
    assert recording.notes[0].startswith(words)


@pytest.mark.parametrize(
    ("snap_bytes", "words"),
    [
        (30, r"none with a whole IP header; 123 are cut before its end: capture with a snap length above 30 bytes\)"),
        (46, r"whole TCP headers, and 123 are cut: capture with a snap length above 46 bytes"),
    ],
)
def test_a_snap_length_that_is_too_short_is_named(tmp_path: Path, snap_bytes: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        importers.read(pcap(tmp_path / "short.pcap", PLAIN, snap=snap_bytes))


@pytest.mark.parametrize("seq", [1000, 2**32 - 5000])
def test_what_the_capture_lost_is_said(tmp_path: Path, seq: int) -> None:
    """Three segments of 60, as where the kernel's buffer was full; what is lost on the way and sent again is none."""
    packets = download(seq=seq)
    assert not any("not captured" in note for note in importers.read(pcap(tmp_path / "whole.pcap", packets)).notes)
    gap = [each for number, each in enumerate(packets) if number not in (63, 65, 67)]
    assert "5.0% of the bytes that were acknowledged were not captured" in _notes(pcap(tmp_path / "gap.pcap", gap))
    sent_again = sorted([*gap, *[(t_s + 0.05, packet) for t_s, packet in packets[63:68:2]]])
    assert "not captured" not in _notes(pcap(tmp_path / "again.pcap", sent_again))
    ports_again = packets + [(t_s + 1, packet) for t_s, packet in download(seq=seq // 2)]
    assert "not captured" not in _notes(pcap(tmp_path / "ports.pcap", ports_again))


def test_what_the_file_counts_as_dropped_is_said(tmp_path: Path) -> None:
    """Of two counts of one interface the later holds; both sections count, and what the system dropped too."""
    file = pcapng(tmp_path / "made.pcapng", PLAIN, [(1, 6)])
    counts = [block(5, struct.pack("<III HHQ HHQ HH", 0, 0, 0, 5, 8, n, 7, 8, 2, 0, 0)) for n in (3, 40)]
    file.write_bytes((file.read_bytes() + b"".join(counts)) * 2)
    assert "84 packets were dropped where they were captured, by the file's count" in _notes(file)
    file.write_bytes(pcapng(file, PLAIN, [(1, 6)]).read_bytes() + block(5, struct.pack("<III HHQ", 0, 0, 0, 5, 8, 0)))
    assert "dropped" not in _notes(file)


@pytest.mark.parametrize("seq", [1000, 2**32 - 5000])
def test_two_clocks_of_the_two_ways_show_no_round_trip(tmp_path: Path, seq: int) -> None:
    """Packets leave by another interface than they come by, whose clock is 10 ms behind: 60 ms instead of 50."""
    packets = sorted((t_s - 0.01 * (packet[15] == 2), packet) for t_s, packet in download(seq=seq))
    recording = importers.read(pcap(tmp_path / "two.pcap", [(t_s + 1, packet) for t_s, packet in packets]))
    assert recording.frame["rtt_ms"].null_count() == recording.frame.height
    assert "segments stand behind their own acknowledgements: its two ways have different" in " ".join(recording.notes)


def _notes(file: Path) -> str:
    return " ".join(importers.read(file).notes)


def test_a_cut_last_packet_is_left_out_with_a_note(tmp_path: Path) -> None:
    recording = importers.read(pcap(tmp_path / "made.pcap", PLAIN, cut=30))
    assert recording.notes[0] == "The last packet (number 123) is cut short by the file's end: left out."
    file = pcapng(tmp_path / "made.pcapng", PLAIN, [(1, 6)])
    file.write_bytes(file.read_bytes()[:-30])
    assert importers.read(file).notes[0].startswith("The last block (number 125) is cut short")


def test_frames_of_an_interface_that_is_not_read_are_left_out_with_a_note(tmp_path: Path) -> None:
    """Wireshark on all interfaces captures USB, Bluetooth and the like beside the network."""
    file = pcapng(tmp_path / "made.pcapng", PLAIN, [(220, 6), (1, 6)])
    of_usb = struct.pack("<IIIII", 0, *divmod(1_700_000_000 * 10**6, 1 << 32), 64, 64) + bytes(64)
    file.write_bytes(file.read_bytes() + block(6, of_usb))
    recording = importers.read(file)
    assert rates(recording) == pytest.approx(PLAIN_RATES)
    assert "1 frames are of link type USB (Linux): left out." in recording.notes


def test_a_damaged_length_is_refused(tmp_path: Path) -> None:
    file = pcap(tmp_path / "made.pcap", PLAIN)
    data = bytearray(file.read_bytes())
    struct.pack_into("<I", data, 24 + 8, 0xFFFFFFFF)
    file.write_bytes(bytes(data))
    with pytest.raises(UserError, match="packet 1: length=4294967295: must be at most"):
        importers.read(file)
