# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture that cannot answer is refused in a line that states why, and what to capture instead."""

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from changed_frames import again, both, in_steps, later, merged, spoiled, thinned, twice, without_acks
from lab_whatif.evidence import items
from lab_whatif.judged import judged
from lab_whatif.refuse import for_others
from lab_whatif.shown import link_lines
from typer.testing import CliRunner
from whatif_captures import ACK, MSS, START_NS, SYN, Download, Frame, Known, written

from lab.base.errors import UserError
from lab.commands.cli import app
from tests.brief import error_of

BULK = Known()
Spoil = Callable[[list[Frame]], list[Frame]]


@pytest.fixture(scope="module")
def bulk() -> Download:
    return Download(BULK)


SPOILED: dict[str, tuple[Spoil, str]] = {
    "clock set": (lambda frames: later(frames, 1, 0.03), "the capture's clock against its host's time stamps=29 ms"),
    "clock set back": (lambda frames: later(frames, 1, -0.02), "its host's time stamps=19 ms: must be steady"),
    "clock of 30 ms": (lambda frames: in_steps(frames, 0.03), r"steps of the capture's clock \(30 ms\)"),
    "two places": (lambda frames: twice(frames, 0.003), r"segments that stand twice, apart by over 1 ms=\d\d"),
    "the same ports again": (again, r"largest connection=50\.0%"),
    "without ACKs": (without_acks, "echoes of time stamps that were not captured="),
    "thinned": (thinned, "acknowledged but not captured=0."),
    "short": (lambda frames: [each for each in frames if each.t_s < 0.4], "round trips="),
}


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("how", list(SPOILED))
def test_a_spoiled_capture_is_refused(tmp_path: Path, bulk: Download, side: str, how: str) -> None:
    spoil, line = SPOILED[how]
    file = written(tmp_path / "x.pcap", spoil(getattr(bulk, side)), BULK)
    with pytest.raises(UserError, match=line):
        judged(file, None, [])


def test_a_senders_capture_without_sack_is_refused_for_what_arrives_behind_a_hole_is_not_seen(
    tmp_path: Path, bulk: Download
) -> None:
    judged(written(tmp_path / "x.pcap", spoiled(bulk.client, sack=()), BULK), None, [])
    with pytest.raises(UserError, match="ACKs that repeat another without SACK blocks="):
        judged(written(tmp_path / "x.pcap", spoiled(bulk.server, sack=()), BULK), None, [])


def test_which_of_several_connections_is_read_is_said(tmp_path: Path, bulk: Download) -> None:
    """The second one opens from the same ports, and is reset at once."""
    file, notes = tmp_path / "x.pcap", list[str]()
    judged(written(file, bulk.client, BULK), None, notes)
    assert notes == []
    end_s = bulk.client[-1].t_s + 1
    file = written(file, [*bulk.client, replace(bulk.client[0], t_s=end_s, seq=10**9, tsval=round(end_s * 1e3))], BULK)
    judged(file, None, notes)
    between = "between 10.0.0.1 port 5201 and 10.0.0.2 port 40000"
    what = f"2 TCP connections: the largest is read, {between} (100.0% of the bytes)"
    assert notes == [f"{what}; what others carried, 60 bytes, is not in the capacity."]


def with_udp(file: Path, ip_bytes: int, count: int) -> Path:
    """Put datagrams, as of QUIC, next to the download."""
    ip = struct.pack(">BBHHHBBH8s", 0x45, 0, ip_bytes, 0, 0, 64, 17, 0, bytes(8))
    udp = bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", 443, 9, ip_bytes - 20, 0)
    record = struct.pack("<4I", START_NS // 10**9 + 1, 0, len(udp), 14 + ip_bytes) + udp
    file.write_bytes(file.read_bytes() + count * record)
    return file


@pytest.mark.parametrize(("ip_bytes", "count", "share"), [(1000, 1, "100.0%"), (50_000, 4, "96.7%")])
def test_what_other_traffic_carried_is_said_to_be_missing_in_the_capacity(
    tmp_path: Path, bulk: Download, ip_bytes: int, count: int, share: str
) -> None:
    """Below 5 % of the bytes it forbids nothing, and a burst of it may fill one step."""
    notes = list[str]()
    judged(with_udp(written(tmp_path / "x.pcap", bulk.client, BULK), ip_bytes, count), None, notes)
    carried = f"what others carried, {count * ip_bytes} bytes, is not in the capacity."
    assert notes[-1].endswith(f"({share} of the bytes); {carried}")


def test_other_traffic_of_many_bytes_is_refused(tmp_path: Path, bulk: Download) -> None:
    with pytest.raises(UserError, match=r"largest connection=8\d\.\d%"):
        judged(with_udp(written(tmp_path / "x.pcap", bulk.client, BULK), 1280, 1000), None, [])


def test_over_ipv6_the_links_own_capacity_is_said_to_be_larger(tmp_path: Path, bulk: Download) -> None:
    found = judged(written(tmp_path / "x.pcap", bulk.client, BULK, version=6), None, [])[1]
    line = "headers of 72 bytes (IP and TCP) count as 52, as in a replay: the link's own capacity and buffer are larger"
    assert f"{line} by 1.3%" in link_lines(found, "receiver")


def test_segments_merged_at_the_sender_show_the_same_link(tmp_path: Path, bulk: Download) -> None:
    """A sender's network card cuts what TSO merged: so do we."""
    whole = judged(written(tmp_path / "whole.pcap", bulk.server, BULK), None, [])[1]
    cut = judged(written(tmp_path / "merged.pcap", merged(bulk.server, 20), BULK), None, [])[1]
    assert cut.path.base_rtt_ms == pytest.approx(whole.path.base_rtt_ms, abs=1)
    assert cut.capacity["rate_mbps"].median() == pytest.approx(whole.capacity["rate_mbps"].median(), rel=0.01)


@pytest.mark.parametrize(("mss", "held"), [(1460, 700), (8960, 1448)], ids=["short path", "jumbo frames at both ends"])
def test_segments_hold_what_the_path_lets_through_and_not_what_the_ends_announce(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mss: int, held: int
) -> None:
    """Else merged ones are not cut where the card cuts them, or pass for whole ones."""
    monkeypatch.setattr("whatif_captures.HANDSHAKE_OPTIONS", struct.pack(">BBHBBBB", 2, 4, mss, 3, 3, 7, 1))
    monkeypatch.setattr("whatif_captures.MSS", held)
    bulk = Download(Known(size_bytes=4_000_000))
    whole = judged(written(tmp_path / "whole.pcap", bulk.server, BULK), None, [])[1]
    cut = judged(written(tmp_path / "merged.pcap", merged(bulk.server, 20), BULK), None, [])[1]
    assert cut.buffer.kind == whole.buffer.kind == "tail"
    assert cut.buffer.losses == whole.buffer.losses
    assert cut.buffer.bytes == pytest.approx(150_000, rel=0.03)
    judged(written(tmp_path / "whole.pcap", bulk.client, BULK), None, [])
    with pytest.raises(UserError, match=f"merged segments=.* longer than {held} bytes"):
        judged(written(tmp_path / "merged.pcap", merged(bulk.client, 2), BULK), None, [])


@pytest.mark.parametrize("snap", [64, 72])  # which cuts the time stamps, and SACK blocks
def test_headers_that_are_cut_are_not_read_as_if_they_were_whole(tmp_path: Path, bulk: Download, snap: int) -> None:
    with pytest.raises(UserError, match=r"cut TCP headers=\d+\.\d%: must be none: capture with a snap length of 128"):
        judged(written(tmp_path / "x.pcap", bulk.client, BULK, snap=snap), None, [])


REQUESTS = Known(calls=True, call_pkts=1000, call_s=20, most_window=300, buffer_bytes=3_000_000, size_bytes=6000 * MSS)


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (Known(calls=True), "segments sent with nothing in flight="),
        (REQUESTS, "segments sent with nothing in flight=5"),
        (Known(receive_window=100_000), "segments at the receive window's edge="),
        (Known(size_bytes=300_000), "steps of 100 ms with a backlog="),
        (Known(stamp_ms=30), r"must be at least \d steps of the time stamps"),
        (
            Known(8, one_way_ms=10, receive_window=62_000, window_scale=False, size_bytes=4_000_000),
            "segments at the receive window's edge=",
        ),
    ],
    ids=["calls", "long pauses", "receive window", "short", "coarse stamps", "a scale that one end offers"],
)
@pytest.mark.parametrize("side", ["client", "server"])
def test_a_download_that_the_link_did_not_limit_is_refused(tmp_path: Path, side: str, known: Known, line: str) -> None:
    file = written(tmp_path / "x.pcap", getattr(Download(known), side), known)
    with pytest.raises(UserError, match=line):
        judged(file, None, [])


def test_a_handshake_without_an_mss_hides_merged_segments(
    tmp_path: Path, bulk: Download, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whatif_captures.HANDSHAKE_OPTIONS", b"\1\1\1\1\3\3\7\1")
    with pytest.raises(UserError, match="MSS in the handshake=absent: must be there"):
        judged(written(tmp_path / "x.pcap", merged(bulk.client, 20), BULK), None, [])


def test_marks_forbid_other_senders_and_not_the_link(tmp_path: Path, bulk: Download) -> None:
    marked = [replace(each, flags=each.flags | (0 if each.length or each.flags & SYN else 64)) for each in bulk.client]
    file = written(tmp_path / "x.pcap", marked, BULK)
    out = ["--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, ["whatif", str(file), *out]).exit_code == 0
    refused = CliRunner().invoke(app, ["whatif", str(file), "--was", "cubic", *out])
    assert "ACKs that report congestion marks (ECN)=" in str(refused.exception)


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize(("marks", "reports"), [(0, 0), (1, 50), (4, 50)])
def test_ends_that_count_marks_report_them_by_their_count(
    tmp_path: Path, bulk: Download, side: str, marks: int, reports: int
) -> None:
    """AccECN (RFC 9768): three bits, from 5 on."""
    frames = [replace(each, flags=each.flags | _ace(each, 0)) for each in getattr(bulk, side)]
    acks = [place for place, each in enumerate(frames) if not each.to_client and each.flags & 18 == 16]
    for place in acks[-50:]:
        frames[place] = replace(frames[place], flags=16 | _ace(frames[place], marks))
    frames[acks[0]] = replace(frames[acks[0]], flags=16 | 2 << 6)  # what the opener saw on the answer
    segments = judged(written(tmp_path / "x.pcap", frames, BULK), None, [])[0]
    said = [line.partition("=")[2].split(":")[0] for line in for_others(segments)]
    assert said == [str(reports)] * bool(reports)


def _ace(frame: Frame, marks: int) -> int:
    """Return the three bits of a segment: a SYN offers all, its answer accepts with the second."""
    return {2: 7, 18: 2}.get(frame.flags & 18, (5 + marks) % 8) << 6


@pytest.mark.filterwarnings("error")
def test_acks_alone_are_refused_without_a_warning(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", [each for each in bulk.client if not each.to_client], BULK)
    assert "handshake=absent" in error_of(judged, file, None, [])


def test_a_capture_between_the_ends_needs_its_side(tmp_path: Path, bulk: Download) -> None:
    shifted = [replace(each, t_s=each.t_s + (-0.0125 if each.to_client else 0.0125)) for each in bulk.client]
    ordered = sorted(shifted, key=lambda each: each.t_s)
    assert "place of the capture=" in error_of(judged, written(tmp_path / "x.pcap", ordered, BULK), None, [])


@pytest.mark.parametrize(("side", "way_s"), [("client", 0.0025), ("server", -0.0025)])
def test_a_capture_near_an_end_says_by_how_much_the_round_trip_may_be_longer(
    tmp_path: Path, bulk: Download, side: str, way_s: float
) -> None:
    shifted = [replace(each, t_s=each.t_s + (-way_s if each.to_client else way_s)) for each in getattr(bulk, side)]
    found = judged(written(tmp_path / "x.pcap", both(shifted, []), BULK), None, [])[1]
    assert "the near end took 5.0 ms to answer the handshake" in link_lines(found, "receiver")[-1]
    base = next(each for each in items(found) if each.name == "base_rtt")
    assert base.high is not None
    assert base.high >= 50


@pytest.mark.parametrize("side", ["client", "server"])
def test_data_on_a_syn_are_not_lost(tmp_path: Path, bulk: Download, side: str) -> None:
    """TCP Fast Open (RFC 7413): the SYN has a number of its own, in front of its data."""
    frames = getattr(bulk, side)
    plain = judged(written(tmp_path / "plain.pcap", frames, BULK), None, [])[1].buffer
    carried = [replace(each, length=MSS if each.flags == SYN | ACK else each.length) for each in frames]
    fast = [
        replace(each, ack=each.ack if each.to_client else max(each.ack, MSS))
        for each in carried
        if each.seq or not each.length
    ]
    found = judged(written(tmp_path / "fast.pcap", fast, BULK), None, [])[1].buffer
    assert found.losses == plain.losses
    assert found.random_loss_pct == plain.random_loss_pct


def test_the_command_refuses_with_status_2_and_one_line_per_rule(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", spoiled(bulk.client[40:], tsecr=0), BULK)
    result = CliRunner().invoke(app, ["whatif", str(file)], catch_exceptions=True)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{file}: handshake=absent")


def test_the_command_writes_the_link_and_its_evidence(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", bulk.client, BULK)
    file.write_bytes(file.read_bytes()[:-20])
    result = CliRunner().invoke(app, ["whatif", str(file), "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.exception
    assert "The last packet (number" in result.stdout
    assert {each.name for each in (tmp_path / "out").iterdir()} >= {"evidence.json", "capacity.parquet", "link.yml"}
    assert "base RTT 49.0 ms" in result.stdout
    assert "\nBuffer drops what exceeds " in result.stdout


def test_the_answer_of_one_capture_is_not_replaced_by_that_of_another(tmp_path: Path, bulk: Download) -> None:
    first, second = (
        written(tmp_path / name, bulk.client[:end], BULK) for name, end in (("x.pcap", None), ("y.pcap", -9))
    )
    out = ["--out", str(tmp_path / "out")]
    assert [CliRunner().invoke(app, ["whatif", str(file), *out]).exit_code for file in (first, first)] == [0, 0]
    before = {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()}
    line = str(CliRunner().invoke(app, ["whatif", str(second), *out]).exception)
    assert line.endswith(
        "out: must be a new folder, or one that this command wrote for this capture: remove it, or give another --out"
    )
    assert {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()} == before


def test_an_import_of_a_capture_states_the_link_beside_the_goodput(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", bulk.client, BULK)
    lines = CliRunner().invoke(app, ["traces", "import", str(file)]).stdout
    assert "The rate is what one TCP flow got." in lines
    assert "The link, seen at the receiver: base RTT 49.0 ms; capacity known in" in lines
    assert "Buffer drops what exceeds 0.1" in lines


def test_an_import_of_another_capture_states_why_it_shows_no_link(tmp_path: Path, bulk: Download) -> None:
    file = written(tmp_path / "x.pcap", thinned(bulk.client), BULK)
    lines = CliRunner().invoke(app, ["traces", "import", str(file)]).stdout
    assert "The link behind it is not known: acknowledged but not captured=0." in lines
