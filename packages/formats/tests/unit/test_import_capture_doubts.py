# SPDX-License-Identifier: GPL-2.0-or-later
"""What a capture of others does not show: frames that are not read, pure acknowledgements, fine times."""

import struct
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from captures_of_users import CLIENT, SERVER, Timed, download, ethernet, ip4, pcap, pcapng, tcp
from lab_formats.reading.grain import grain_s
from lab_formats.reading.missing import stated_mss

from lab.base.errors import UserError
from lab.traces import importers
from tests.brief import error_of

ENCRYPTED, ARP = 0x88E5, 0x0806  # MACsec
OUTER = struct.pack(">BBHHHBBH", 0x45, 0, 0, 1, 0, 64, 47, 0) + b"\x0a\0\0\1\x0a\0\0\2"


def notes(file: Path) -> tuple[str, ...]:
    return importers.read(file).notes


def of_type(kind: int, packet: bytes) -> bytes:
    return bytes(12) + struct.pack(">H", kind) + packet


def test_one_way_that_is_not_read_is_said(tmp_path: Path) -> None:
    def frame(packet: bytes) -> bytes:
        return of_type(ENCRYPTED, packet) if len(packet) > 1000 else ethernet(packet)

    read = importers.read(pcap(tmp_path / "made.pcap", download(), 1, frame))
    assert max(read.frame["rate_down_mbps"]) < 0.01
    assert "60 frames hold no IP packet that is read (96.4% of the bytes): left out." in read.notes


def test_a_few_frames_of_the_neighbourhood_need_no_word(tmp_path: Path) -> None:
    frames = [(t_s, ethernet(packet)) for t_s, packet in download()]
    frames += [(0.2 + number / 100, of_type(ARP, bytes(28))) for number in range(15)]
    quiet = notes(pcap(tmp_path / "made.pcap", sorted(frames), 1, lambda frame: frame))
    assert not any("no IP packet" in note for note in quiet)


def test_gre_that_holds_no_ip_packet_is_said_and_its_outer_packets_count(tmp_path: Path) -> None:
    """A PPTP acknowledgement ends where a packet would begin; a controller's tunnel holds frames of 802.11."""
    others = [OUTER[:2] + struct.pack(">H", 20 + len(gre)) + OUTER[4:] + gre for gre in (ACK, AIR)]
    frames = [*download(), *[(0.3 + number / 10, packet) for number, packet in enumerate(others)]]
    found = notes(pcap(tmp_path / "made.pcap", sorted(frames)))
    assert found[0].startswith("2 packets are within GRE that holds no IP packet which is read: the outer ones count")
    assert "2 of 125 packets are of other hosts: left out." in found


ACK = b"\x20\x81\x88\x0b" + bytes(8)
AIR = b"\0\0\x82\0" + bytes(30)


def chat(pure: bool) -> list[Timed]:
    """Ten requests, each 2 s after the answer to the one before, which it acknowledges where no pure ACK does."""
    packets = [(t_s, packet) for t_s, packet in download()[:3]]
    requested, answered, t_s = 100, 1000, 0.1
    for _ in range(10):
        packets.append((t_s, ip4(CLIENT, SERVER, tcp(4000, 80, requested, answered, 0x18, 50))))
        requested += 50
        packets.append((t_s + 0.001, ip4(SERVER, CLIENT, tcp(80, 4000, answered, requested, 0x18, 700))))
        answered += 700
        if pure:
            packets.append((t_s + 0.05, ip4(CLIENT, SERVER, tcp(4000, 80, requested, answered, 0x10, 0))))
        t_s += 2
    return packets


@pytest.mark.parametrize(("pure", "median_ms", "said"), [(True, 49.0, False), (False, 1999.0, True)])
def test_acknowledgements_that_wait_for_data_are_said(tmp_path: Path, pure: bool, median_ms: float, said: bool) -> None:
    """As in a capture of packets with data alone; the server is where it was taken."""
    read = importers.read(pcap(tmp_path / "made.pcap", chat(pure)))
    assert read.frame["rtt_ms"].drop_nulls()[1:].median() == pytest.approx(median_ms)
    words = "9 of 10 acknowledgements came with data: their round trips contain what the other end waited"
    assert any(note.startswith(words) for note in read.notes) == said


@pytest.mark.parametrize("step_s", [0.01, 1e-6])
def test_a_clock_of_coarse_steps_is_said(tmp_path: Path, step_s: float) -> None:
    file = pcap(tmp_path / "made.pcap", [(t_s // step_s * step_s, packet) for t_s, packet in download()])
    words = "The capture's clock has steps of 10 ms: each round trip is known to one of them."
    assert (words in notes(file)) == (step_s == 0.01)


@pytest.mark.parametrize("step_s", [2**-6, 2**-7, 2**-9, 0.01, 1e-6])
def test_a_clocks_step_is_seen_where_hardly_two_packets_share_a_time(step_s: float) -> None:
    """Of 2^-7 s the step is no whole number of microseconds."""
    assert grain_s(np.cumsum([1, 2, 1, 3, 5, 1, 0, 4] * 20) * step_s) == pytest.approx(step_s)


@pytest.mark.parametrize("step_s", [2**-7, 2**-8, 2**-9, 1 / 60])
@pytest.mark.parametrize("of_step", [0.0, 0.5], ids=["cut", "rounded"])
def test_a_clocks_step_is_seen_behind_its_microseconds(step_s: float, of_step: float) -> None:
    """The shortest gap is two steps; beside times that are no steps there is none."""
    times_s = np.cumsum([2, 2, 3, 5, 0, 4, 2, 900] * 20) * step_s
    assert grain_s(np.floor(times_s * 1e6 + of_step) / 1e6) == pytest.approx(step_s, rel=1e-4)
    others_s = times_s + np.random.default_rng(1).uniform(0, step_s / 50, len(times_s)).cumsum()
    assert grain_s(np.floor(others_s * 1e6 + of_step) / 1e6) == pytest.approx(1e-6)


def test_the_clock_of_one_of_two_interfaces_is_coarse(tmp_path: Path) -> None:
    """The client's packets left by one, and the server's came by the other."""
    of_client = [packet[12:16] == download()[0][1][12:16] for _, packet in download()]
    parts = [[each for each, own in zip(download(), of_client, strict=True) if own == mine] for mine in (True, False)]
    ends = [
        pcapng(tmp_path / "x", part, [(1, digits)]).read_bytes() for part, digits in zip(parts, (9, 2), strict=True)
    ]
    file = tmp_path / "made.pcapng"
    file.write_bytes(b"".join(ends))
    assert "The capture's clock has steps of 10 ms: each round trip is known to one of them." in notes(file)


def test_a_clock_of_whole_seconds_has_no_rate_of_shorter_steps(tmp_path: Path) -> None:
    """Every tenth step had the packets of ten, so that the rate was ten times too large, and 0 between."""
    later = [(t_s + second, packet) for second in range(3) for t_s, packet in download()]
    file = pcapng(tmp_path / "made.pcapng", later, [(1, 0)])
    assert "step_ms=100.0: must be at least 1000, a step of the capture's clock" in error_of(importers.read, file)
    assert max(importers.read(file, step_ms=1000).frame["rate_down_mbps"]) < 1


def test_a_long_time_without_a_packet_is_said_as_a_clock_may_have_been_set(tmp_path: Path) -> None:
    later = [(t_s + 3600 * (place > 60), packet) for place, (t_s, packet) in enumerate(download())]
    found = " ".join(notes(pcap(tmp_path / "made.pcap", later)))
    assert "s on for 3600 s: the rates are 0 there, wrongly if the clock was set forward." in found


def at_an_access_point(number: int, answers_s: float) -> list[Timed]:
    """A download as seen 2 ms away from the client, whose server first answers after so long."""
    made = download(server=f"192.0.2.{100 + number}", seq=10**7 * number)
    shifted = [(t_s + 0.002 * (packet[15] == 2), packet) for t_s, packet in made]
    return [shifted[0], (0.002 + answers_s, shifted[1][1]), *shifted[2:]]


def test_one_host_that_is_near_does_not_make_the_far_end_of_the_others_near(tmp_path: Path) -> None:
    """The client answers after 2 ms, two servers after 48 ms, and one of the neighbourhood after 0.9 ms."""
    answers = enumerate((0.048, 0.048, 0.0009), 1)
    packets = sorted(each for number, answers_s in answers for each in at_an_access_point(number, answers_s))
    read = importers.read(pcap(tmp_path / "made.pcap", packets))
    assert max(read.frame["rtt_ms"].drop_nulls()) == pytest.approx(48)
    assert "without the 2.0 ms of this one" in "".join(read.notes)


def test_where_both_ends_answer_at_once_the_round_trip_may_be_none_of_the_path(tmp_path: Path) -> None:
    """As in a telephone's VPN program, which answers for the servers."""
    packets = download()
    near = [packets[0], (0.0002, packets[1][1]), *packets[2:]]
    note = "Both ends answer within 1 ms at times: the path is as short, or something on it answers for an end"
    assert any(each.startswith(note) for each in notes(pcap(tmp_path / "near.pcap", near)))
    assert not any(each.startswith(note) for each in notes(pcap(tmp_path / "far.pcap", packets)))


def test_a_packet_whose_length_is_damaged_is_left_out_as_a_host_does(tmp_path: Path) -> None:
    packets = download()
    t_s, packet = packets[63]  # the 31st segment
    damaged = [*packets[:63], (t_s, packet[:2] + struct.pack(">H", 30_000) + packet[4:]), *packets[64:]]
    without = importers.read(pcap(tmp_path / "without.pcap", packets[:63] + packets[64:]))
    read = importers.read(pcap(tmp_path / "damaged.pcap", damaged))
    assert list(read.frame["rate_down_mbps"]) == list(without.frame["rate_down_mbps"])
    assert "1 packet with a length beyond the frame's (damaged): left out." in read.notes


def test_of_frames_that_a_tool_cut_and_gave_a_new_length_what_they_state_counts(tmp_path: Path) -> None:
    packets = download()
    whole = importers.read(pcap(tmp_path / "whole.pcap", packets))
    read = importers.read(pcap(tmp_path / "cut.pcap", packets, 1, lambda packet: ethernet(packet)[:96]))
    assert list(read.frame["rate_down_mbps"]) == list(whole.frame["rate_down_mbps"])
    said = [note for note in read.notes if note.startswith("60 packets with a length beyond the frame's, as wh")]
    assert len(said) == 1


@pytest.mark.parametrize(
    ("mss", "size", "share"),
    [
        (1448, 1448, None),
        (1448, 10 * 1448, "2.4%"),  # 9 of 10 headers of 40 bytes, of 1488 bytes each
        (1448, 10 * 1448 - 1000, "2.6%"),  # the last segment is short
        (536, 1448, "5.0%"),
        (0, 10 * 1448, None),  # the handshake does not state it
    ],
)
def test_headers_that_merged_segments_lack_are_said(tmp_path: Path, mss: int, size: int, share: str | None) -> None:
    packets = download(size=size)
    stated = tcp(4000, 80, 99, 0, 2, 0)[:12] + b"\x60\x02" + bytes(6) + struct.pack(">BBH", 2, 4, mss)
    packets[0] = packets[0][0], ip4(CLIENT, SERVER, stated)
    found = [note for note in notes(pcap(tmp_path / "made.pcap", packets)) if "the headers between them" in note]
    words = f"(GRO, TSO): the headers between them, {share} of the bytes on the link, are not in the rate."
    if share is None:
        assert [note.partition(",")[0] for note in found] == ["60 packets are longer than 1500 bytes"] * (mss == 0)
    else:
        assert found[0].startswith("60 packets hold")
        assert found[0].endswith(words)


def test_who_is_taken_for_the_user_is_said(tmp_path: Path) -> None:
    """A server opens the connection of an active FTP: the download would be an upload."""
    file = pcap(tmp_path / "made.pcap", download())
    words = f"The user is taken to be {CLIENT}, who opened the largest conversation: it makes the direction"
    assert any(note.startswith(words) for note in notes(file))
    assert not any("taken to be" in note for note in importers.read(file, user=SERVER).notes)


@pytest.mark.parametrize(("source", "way"), [(SERVER, "up"), (CLIENT, "down")])
def test_a_way_that_was_not_captured_has_no_rate(tmp_path: Path, source: str, way: str) -> None:
    """It is not 0: its acknowledgements, or what they acknowledge, have passed."""
    one_way = [(t_s, packet) for t_s, packet in download() if packet[12:16] == ip_address(source).packed]
    found = importers.read(pcap(tmp_path / "made.pcap", one_way), user=CLIENT)
    assert found.frame.columns == ["t_s", f"rate_{'down' if way == 'up' else 'up'}_mbps", "rtt_ms"]
    assert f"No packet of the way {way} was captured, though TCP answers: its rate is not known." in found.notes


def test_a_syn_without_an_answer_shows_no_way_that_was_not_captured(tmp_path: Path) -> None:
    syns = [(second, ip4(CLIENT, SERVER, tcp(4000, 80, 99, 0, 2, 0))) for second in (0.0, 1.0, 3.0)]
    assert importers.read(pcap(tmp_path / "made.pcap", syns)).frame["rate_down_mbps"].max() == 0


@pytest.mark.parametrize(
    ("size", "at_sender", "share"), [(1448, True, "9.1%"), (2896, True, "4.8%"), (1448, False, None)]
)
def test_what_was_sent_again_at_the_senders_place_is_said(
    tmp_path: Path, size: int, at_sender: bool, share: str | None
) -> None:
    """Behind the loss each segment stands once; of two that a host hands over at once (TSO) the second was lost."""
    packets = download(size=size)
    places = range(10, 40, 5)
    seqs = [1000 + (place + 1) * size - 1448 for place in places]
    again = [ip4(SERVER, CLIENT, tcp(80, 4000, seq, 100, 0x10, 1448)) for seq in seqs]
    kept = packets if at_sender else [each for each in packets if each[1] not in again]
    late = [(0.16 + place / 100, packet) for place, packet in zip(places, again, strict=True)]
    found = notes(pcap(tmp_path / "made.pcap", sorted([*kept, *late])))
    said = [note for note in found if "were sent again" in note]
    assert not said if share is None else said[0].startswith(f"{share} of the bytes of the largest way were sent again")


def test_of_ports_that_are_used_again_nothing_was_sent_again(tmp_path: Path) -> None:
    later = [(10 + t_s, packet) for t_s, packet in download(seq=1000 + 30 * 1448)]
    assert not [note for note in notes(pcap(tmp_path / "made.pcap", [*download(), *later])) if "sent again" in note]


def test_of_datagrams_above_what_a_link_carries_the_headers_between_them_are_said_to_be_missing(tmp_path: Path) -> None:
    for size_bytes, is_said in ((1472, False), (40 * 1252, True)):
        udp = struct.pack(">HHHH", 443, 4000, 8 + size_bytes, 0)
        packets = [(number / 100, ip4(SERVER, CLIENT, udp + bytes(size_bytes), protocol=17)) for number in range(60)]
        found = importers.read(pcap(tmp_path / f"{size_bytes}.pcap", packets), user=CLIENT).notes
        said = [note for note in found if "longer than 1500 bytes" in note]
        assert [note.endswith("unless the link carries packets as long (jumbo frames).") for note in said] == [
            True
        ] * is_said


def test_what_a_host_sends_to_its_own_address_is_neither_up_nor_down(tmp_path: Path) -> None:
    own = download(client="127.0.0.1", server="127.0.0.1")
    mixed = importers.read(pcap(tmp_path / "any.pcap", sorted(download() + own)))
    assert mixed.frame.equals(importers.read(pcap(tmp_path / "made.pcap", download())).frame)
    assert mixed.notes[0].startswith("123 packets have one address at both ends (loopback)")
    with pytest.raises(UserError, match=r"packets: must be those of two hosts \(123 have one address at both ends"):
        importers.read(pcap(tmp_path / "lo.pcap", own), user="127.0.0.1")


def test_times_that_are_finer_than_the_file_states_are_refused(tmp_path: Path) -> None:
    data = bytearray(pcap(tmp_path / "made.pcap", download()).read_bytes())
    struct.pack_into("<I", data, 28, 50_010_000)  # ns, in a file of us
    (tmp_path / "made.pcap").write_bytes(data)
    with pytest.raises(UserError, match="packet 1: fraction of its second=50010000: must be below 1000000"):
        importers.read(tmp_path / "made.pcap")


@pytest.mark.parametrize(("options", "mss"), [("020405b4", 1460), ("02067fffffff0000", 0), ("0114020a" + 8 * "ff", 0)])
def test_an_mss_option_of_another_length_states_none(options: str, mss: int) -> None:
    given = bytes.fromhex(options)
    assert stated_mss(struct.pack(">HHIIBBHHH", 1, 2, 0, 0, 0xF0, 2, 65535, 0, 0) + given) == mss
