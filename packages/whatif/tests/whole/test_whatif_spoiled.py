# SPDX-License-Identifier: GPL-2.0-or-later
"""Every spoiled capture is refused, and no bulk capture is; what stands there twice or was sent again counts once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from changed_frames import both, in_pairs_turned, in_sections, kept_alive, later, merged, twice
from lab_formats.reading.copies import counted_once
from lab_formats.reading.packets import packets_of
from lab_whatif.evidence import items
from lab_whatif.infer import Inferred
from lab_whatif.judged import judged
from lab_whatif.measures import measured
from lab_whatif.shown import link_lines
from test_whatif_refusals import REQUESTS
from whatif_captures import MSS, Download, Frame, Known, content, written

from lab.base.errors import UserError
from lab.traces import importers
from tests.brief import error_of

LINKS = {
    "20 Mb/s, 50 ms": Known(),
    "10 Mb/s, 200 ms": Known(rate_mbps=10, one_way_ms=100, buffer_bytes=300_000, size_bytes=4_000_000),
    "50 Mb/s, 30 ms, a threshold": Known(rate_mbps=50, one_way_ms=15, drop_above=0.5, buffer_bytes=400_000, seed=2),
    "8 Mb/s, 80 ms, random loss": Known(rate_mbps=8, one_way_ms=40, random_loss=0.002, size_bytes=3_000_000, seed=3),
}
OTHERWISE = {"window": {"receive_window": 60_000}, "calls": {"calls": True}}
ENDS = ("client", "server")


@pytest.fixture(scope="module", params=list(LINKS))
def known(request: pytest.FixtureRequest) -> Known:
    return LINKS[request.param]


@pytest.fixture(scope="module")
def bulk(known: Known) -> Download:
    return Download(known)


@pytest.mark.parametrize("end", ENDS)
def test_no_bulk_capture_is_refused(tmp_path: Path, known: Known, bulk: Download, end: str) -> None:
    judged(written(tmp_path / "x.pcap", getattr(bulk, end), known), None, [])


@pytest.mark.parametrize(
    ("spoil", "snap", "line"),
    [
        (lambda frames: later(frames, 1, -1), 128, "segments behind later ones, by their time stamps="),
        (lambda frames: frames[40:], 128, "handshake=absent"),
        (lambda frames: frames, 54, "cut TCP headers=100.0%"),
        (lambda frames: frames, 0, "TCP time stamps=0.0%"),
    ],
    ids=["clock set back by a second", "from the middle", "headers without options", "no time stamps"],
)
@pytest.mark.parametrize("side", ENDS)
def test_one_cause_is_refused_in_one_line(
    tmp_path: Path, spoil: Callable[[list[Frame]], list[Frame]], snap: int, line: str, side: str
) -> None:
    known = Known(size_bytes=4_000_000)
    frames = spoil(getattr(Download(known), side))
    file = written(tmp_path / "x.pcap", frames, known, snap=snap or 128, stamps=snap > 0)
    assert [each.split(": ")[1].startswith(line) for each in error_of(judged, file, None, []).splitlines()] == [True]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("how", list(OTHERWISE))
def test_every_download_that_something_else_limits_is_refused(tmp_path: Path, known: Known, end: str, how: str) -> None:
    limited = replace(known, **OTHERWISE[how])  # type: ignore[arg-type]
    with pytest.raises(UserError):
        judged(written(tmp_path / "x.pcap", getattr(Download(limited), end), limited), None, [])


BULK = Known()


@pytest.fixture(scope="module")
def plain() -> Download:
    return Download(BULK)


@pytest.mark.parametrize(("after_s", "every"), [(1e-5, 1), (1e-5, 3), (0.003, 1), (0.05, 3)])
def test_copies_of_data_count_once_in_the_rate(tmp_path: Path, plain: Download, after_s: float, every: int) -> None:
    once = importers.read(written(tmp_path / "once.pcap", plain.client, BULK)).frame["rate_down_mbps"]
    found = importers.read(written(tmp_path / "twice.pcap", twice(plain.client, after_s, every), BULK))
    assert found.frame["rate_down_mbps"][: len(once)].to_list() == once.to_list()
    assert any("are copies of others: each is counted once" in note for note in found.notes)


@pytest.mark.parametrize(("stamps", "late_s"), [(True, 0.0), (True, 5.0), (False, 0.0)])
def test_of_both_ends_at_once_no_rtt_is_seen(tmp_path: Path, plain: Download, stamps: bool, late_s: float) -> None:
    """The ACKs of the second end stand twice, too; its clock may be another."""
    once = importers.read(written(tmp_path / "once.pcap", plain.server, BULK, stamps=stamps)).frame
    frames = both(plain.client, later(plain.server, -1, late_s))
    found = importers.read(written(tmp_path / "both.pcap", frames, BULK, stamps=stamps))
    assert sum(found.frame["rate_up_mbps"]) == pytest.approx(sum(once["rate_up_mbps"]), rel=0.02)
    assert found.frame["rtt_ms"].null_count() == found.frame.height
    assert any("for the capture shows two places" in note for note in found.notes)


def test_of_two_captures_of_one_way_one_counts(tmp_path: Path, plain: Download) -> None:
    """Both ends' pcapng files, merged: what one alone shows was lost, or merged by a network card."""
    client, server = (
        [each._replace(interface=(number, 0)) for each in packets_of(written(tmp_path / "x.pcap", end, BULK), [])]
        for number, end in enumerate((plain.client, merged(plain.server, 20)))
    )
    assert counted_once(both(client, server))[0] == server


def test_acks_whose_sack_blocks_are_cut_are_no_copies(tmp_path: Path, plain: Download) -> None:
    whole = importers.read(written(tmp_path / "whole.pcap", plain.client, BULK)).frame
    cut = importers.read(written(tmp_path / "cut.pcap", plain.client, BULK, snap=68)).frame
    assert cut["rate_up_mbps"].to_list() == whole["rate_up_mbps"].to_list()


FORMS: dict[str, Callable[[list[Frame]], bytes]] = {
    "each twice": lambda frames: content(twice(frames, 1e-5), BULK),
    "a third twice": lambda frames: content(twice(frames, 1e-5, 3), BULK),
    "keepalives behind it": lambda frames: content(kept_alive(frames), BULK),
    "sections, as of a ring buffer's files": lambda frames: in_sections(frames, BULK, 3),
    "two interfaces in turn": lambda frames: in_sections(frames, BULK, 1, interfaces=2),
}


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("form", list(FORMS))
def test_what_adds_nothing_to_a_capture_changes_nothing(tmp_path: Path, plain: Download, side: str, form: str) -> None:
    frames, file = getattr(plain, side), tmp_path / "x.pcap"
    once = judged(written(file, frames, BULK), None, [])[1]
    file.write_bytes(FORMS[form](frames))
    found = judged(file, None, [])[1]
    assert found.capacity.equals(once.capacity)
    assert (found.buffer.bytes, found.buffer.losses) == (once.buffer.bytes, once.buffer.losses)


@pytest.mark.parametrize("side", ENDS)
def test_what_the_capture_alone_lost_is_no_loss_of_the_link(tmp_path: Path, side: str) -> None:
    known = Known(most_window=120, size_bytes=5_000_000)
    frames: list[Frame] = getattr(Download(known), side)
    data = [frame for frame in frames if frame.length]
    kept = [frame for frame in frames if frame not in data[100::1500]]
    found = judged(written(tmp_path / "x.pcap", kept, known), None, [])[1].buffer
    assert (len(frames) - len(kept), found.losses, found.random_loss_pct) == (3, 0, 0)


def test_new_segments_that_a_senders_capture_shows_in_another_order_are_not_lost(
    tmp_path: Path, plain: Download
) -> None:
    """As where several queues of a card are captured: each second one stands behind the next."""
    once, found = (
        judged(written(tmp_path / "x.pcap", frames, BULK), None, [])[1]
        for frames in (plain.server, in_pairs_turned(plain.server))
    )
    assert (found.buffer.kind, found.buffer.losses, found.buffer.random_loss_pct) == ("tail", once.buffer.losses, 0)
    assert measured(found).end_bytes == measured(once).end_bytes


def test_a_receiver_that_discards_what_it_has_reported_is_refused_at_the_sender(
    tmp_path: Path, plain: Download
) -> None:
    """As one without memory: what it discarded passed the link once more, of which no ACK informs."""
    acks = [place for place, each in enumerate(plain.server) if each.sack and each.sack[0][0] > each.ack]
    frames, (left, _) = list(plain.server), plain.server[acks[0]].sack[0]
    frames[acks[4]] = replace(frames[acks[4]], ack=left, sack=())
    with pytest.raises(UserError, match="ACKs that take back what SACK reported=1: must be none"):
        judged(written(tmp_path / "x.pcap", frames, BULK), None, [])


BOTH_ENDS = pytest.mark.parametrize("side", ["client", "server"])


def inferred(folder: Path, known: Known, side: str) -> Inferred:
    return judged(written(folder / "x.pcap", getattr(Download(known), side), known), None, [])[1]


FEW = Known(rate_mbps=2, one_way_ms=10, buffer_bytes=8 * (MSS + 66), size_bytes=300_000)


@BOTH_ENDS
@pytest.mark.parametrize(
    "known",
    [
        FEW,
        replace(FEW, rate_mbps=0.5, one_way_ms=60, buffer_bytes=15_000, stamp_ms=10),
        replace(FEW, rate_mbps=1, one_way_ms=25, buffer_bytes=10_000, stamp_ms=4, ack_every=4),
        replace(FEW, rate_mbps=5, buffer_bytes=25_000, drop_above=0.5, ack_every=4, size_bytes=1_250_000, seed=84),
        Known(buffer_bytes=135_408, most_window=170, stamp_ms=4, size_bytes=8_000_000),
        Known(one_way_ms=10, sway_ms=3),
        Known(sway_ms=8),
    ],
    ids=["8 packets", "9", "6, ACKs of 4", "a threshold", "no loss, stamps of 4 ms", "it sways by 3 ms", "by 8 ms"],
)
def test_the_bounds_of_a_buffer_hold_it(tmp_path: Path, side: str, known: Known) -> None:
    found = inferred(tmp_path, known, side)
    bounds = next(each for each in items(found) if each.name in ("buffer", "drop_threshold"))
    true_bytes = known.buffer_bytes * (known.drop_above or 1)
    assert (bounds.low or 0) <= true_bytes <= (bounds.high or true_bytes)
    if known == FEW and side == "client":
        assert bounds.value == known.buffer_bytes


@BOTH_ENDS
def test_what_a_full_queue_drops_is_no_random_loss_where_the_way_down_sways(tmp_path: Path, side: str) -> None:
    """By 5 ms: at the sender one ACK reports what was sent again together with newer segments, which it overtook."""
    found = inferred(tmp_path, Known(sway_ms=5, size_bytes=8_000_000), side)
    assert found.buffer.losses > 900
    assert (found.buffer.kind, found.buffer.random_loss_pct) == ("tail", 0)
    assert found.buffer.bytes == pytest.approx(150_000, rel=0.1)


@pytest.mark.parametrize("lost_pct", [0.0, 1.0])
def test_a_way_down_that_varies_says_that_random_losses_may_be_none(tmp_path: Path, lost_pct: float) -> None:
    found = inferred(tmp_path, Known(size_bytes=4_000_000), "client")
    varying = replace(found, jitter_ms=20.0, buffer=replace(found.buffer, random_loss_pct=lost_pct))
    lines = link_lines(varying, "receiver")
    assert any("without a full queue may have met one" in line for line in lines) is (lost_pct > 0)


BEFORE_S = 0.5  # a pause's end; that a timeout is near is no reason for it


@pytest.fixture(scope="module")
def requests() -> Download:
    return Download(REQUESTS)


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_pause_counts_also_where_something_was_sent_again_shortly_before(
    tmp_path: Path, requests: Download, side: str
) -> None:
    frames: list[Frame] = getattr(requests, side)
    old = next(frame for frame in frames if frame.seq == 100 * frame.length > 0)
    ends_s = [REQUESTS.call_s * call - BEFORE_S for call in range(1, 6)]
    again = [replace(old, t_s=t_s, tsval=old.tsval + round((t_s - old.t_s) * 1e3)) for t_s in ends_s]
    with pytest.raises(UserError, match="segments sent with nothing in flight=5"):
        judged(written(tmp_path / "x.pcap", both(frames, again), REQUESTS), None, [])


@pytest.mark.parametrize("late_ms", [70.0, 200.0])
def test_a_packet_of_which_both_copies_came_was_late_and_not_lost(tmp_path: Path, late_ms: float) -> None:
    """The receiver reports the second one (D-SACK): at the sender as few are lost as at the receiver."""
    known = Known(late_share=0.002, late_ms=late_ms, most_window=120, size_bytes=5_000_000)
    sent = [frame.seq for frame in Download(known).server if frame.length]
    assert len(sent) > len(set(sent))
    found = judged(written(tmp_path / "x.pcap", Download(known).server, known), None, [])[1].buffer
    assert (found.losses, found.random_loss_pct) == (0, 0)


@pytest.mark.parametrize("side", ["client", "server"])
def test_a_connection_that_stands_again_under_translated_addresses_counts_once(
    tmp_path: Path, bulk: Download, side: str
) -> None:
    """As of a container, whose host captures at all its interfaces."""
    frames = getattr(bulk, side)
    once, again = (
        written(tmp_path / f"{late_s}.pcap", [replace(each, t_s=each.t_s + late_s) for each in frames], BULK)
        for late_s in (0.0, 1e-5)
    )
    plain, notes = judged(once, None, [])[1], list[str]()
    once.write_bytes(once.read_bytes() + again.read_bytes()[24:].replace(bytes([10, 0, 0, 2]), bytes([172, 17, 0, 2])))
    found = judged(once, None, notes)[1]
    assert found.capacity.equals(plain.capacity)
    assert found.buffer.bytes == plain.buffer.bytes
    assert any(note.startswith("1 connections stand again under translated addresses (NAT)") for note in notes)
