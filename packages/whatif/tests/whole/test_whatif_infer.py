# SPDX-License-Identifier: GPL-2.0-or-later
"""From a capture of a known link the link comes back, from either end and in every form."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_whatif.evidence import items
from lab_whatif.infer import Inferred
from lab_whatif.judged import judged
from lab_whatif.measures import measured
from lab_whatif.path import at_sender
from lab_whatif.segments import of_capture
from lab_whatif.shown import link_lines
from whatif_captures import MSS, Download, Frame, Known, written

from lab.base.errors import UserError
from tests.brief import present

RTT_MS = 50.0


def inferred(folder: Path, known: Known, side: str, **form: Any) -> Inferred:
    download = Download(known)
    file = written(folder / "x.pcap", getattr(download, side), known, **form)
    _, found, at = judged(file, None, [])
    assert at == {"client": "receiver", "server": "sender"}[side]
    return found


ENDS = pytest.mark.parametrize("side", ["client", "server"])


@ENDS
@pytest.mark.parametrize(
    ("known", "form"),
    [
        (Known(), {}),
        (Known(), {"version": 6}),
        (Known(isn=2**32 - 100_000, stamp_base=2**32 - 500), {}),
        (Known(stamp_ms=4), {}),
    ],
    ids=["IPv4", "IPv6", "wraps", "stamps of 4 ms"],
)
def test_rate_round_trip_and_buffer_come_back(tmp_path: Path, side: str, known: Known, form: dict[str, Any]) -> None:
    found = inferred(tmp_path, known, side, **form)
    assert abs(found.path.base_rtt_ms - RTT_MS) <= known.stamp_ms
    rates = found.capacity.filter("known")["rate_mbps"]
    assert rates.median() == pytest.approx(20, rel=0.01)
    assert found.buffer.kind == "tail"
    assert found.buffer.bytes == pytest.approx(known.buffer_bytes, abs=20e6 / 8 * (known.stamp_ms + 1) / 1e3)


def test_the_lost_end_of_a_burst_shows_no_smaller_buffer(tmp_path: Path) -> None:
    """ACKs of 32 packets let as many leave at once: what follows their lost end finds a drained queue."""
    found = inferred(tmp_path, Known(ack_every=32), "client").buffer
    assert found.kind == "tail"
    assert found.bytes == pytest.approx(150_000, rel=0.02)


@pytest.mark.parametrize(
    ("known", "side"),
    [
        (Known(8, one_way_ms=10, buffer_bytes=40_000, stamp_ms=10, ack_every=4, size_bytes=2_500_000), "server"),
        (Known(3, one_way_ms=10, buffer_bytes=15_000, sway_ms=10, size_bytes=937_500, seed=2), "client"),
        (Known(one_way_ms=10, buffer_bytes=25_000, held_every_s=0.1, held_s=0.005), "client"),
    ],
    ids=["coarse stamps", "a queue of ten packets", "a host that holds packets"],
)
def test_what_a_small_queue_drops_is_no_random_loss(tmp_path: Path, known: Known, side: str) -> None:
    """1.7, 1.7 and 18.5 % counted as random loss: a queue is known to a packet and a step of the stamps."""
    assert inferred(tmp_path, known, side).buffer.random_loss_pct == 0


@pytest.mark.parametrize("ack_every", [8, 32])
def test_acks_of_many_packets_make_no_tail_drop_a_random_loss(tmp_path: Path, ack_every: int) -> None:
    """At the sender they hide when the first of those packets arrived, in the largest queue alone: the bound has it."""
    found = inferred(tmp_path, Known(ack_every=ack_every, size_bytes=5_000_000), "server")
    assert (found.buffer.kind, found.buffer.random_loss_pct) == ("tail", 0)
    buffer = next(each for each in items(found) if each.name == "buffer")
    assert buffer.low is not None
    assert buffer.high is not None
    assert buffer.low <= 150_000 <= buffer.high


@ENDS
def test_a_change_of_the_rate_is_seen_when_it_happens(tmp_path: Path, side: str) -> None:
    table = inferred(tmp_path, Known(faster_from_s=1.5), side).capacity.filter("known")
    before = table.filter((table["t_s"] > 0.5) & (table["t_s"] < 1.3))["rate_mbps"]
    after = table.filter((table["t_s"] > 1.8) & (table["t_s"] < 2.1))["rate_mbps"]
    assert before.median() == pytest.approx(20, rel=0.02)
    assert after.median() == pytest.approx(40, rel=0.05)


@ENDS
def test_a_drop_above_a_threshold_is_no_tail_drop(tmp_path: Path, side: str) -> None:
    link = inferred(tmp_path, Known(drop_above=0.5, buffer_bytes=300_000), side)
    found = link.buffer
    assert found.kind == "threshold"
    assert found.bytes == pytest.approx(150_000, rel=0.08)
    assert found.drop_pct == pytest.approx(25, abs=6)
    assert link.moved is None


@ENDS
@pytest.mark.parametrize(
    ("known", "until_bytes", "since_bytes"),
    [
        (Known(longer_ms=5), 150_000, 160_000),
        (Known(longer_ms=20), 150_000, 200_000),
        (Known(longer_ms=40), 150_000, 210_000),  # one burst is lost, which fills the longer way
        (Known(longer_ms=20, buffer_bytes=60_000, one_way_ms=10, size_bytes=5_000_000), 60_000, 91_000),
    ],
)
def test_a_way_down_that_becomes_longer_says_that_the_larger_queue_may_be_none(
    tmp_path: Path, side: str, known: Known, until_bytes: int, since_bytes: int
) -> None:
    link = inferred(tmp_path, known, side)
    assert link.moved == pytest.approx((1.3, until_bytes, since_bytes), rel=0.08)
    assert any("(a handover): then the buffer holds the smaller of the two" in line for line in link_lines(link, side))


@ENDS
def test_without_a_loss_the_buffer_is_only_bounded(tmp_path: Path, side: str) -> None:
    found = inferred(tmp_path, Known(most_window=120), side).buffer
    assert found.kind == "at least"
    assert 50_000 < found.bytes <= 150_000
    assert found.first_loss_s is None


@ENDS
def test_random_loss_is_no_buffer(tmp_path: Path, side: str) -> None:
    known = Known(random_loss=0.005, first_loss_free=300, most_window=100, buffer_bytes=1_000_000)
    link = inferred(tmp_path, known, side)
    found, lost = link.buffer, next(each for each in items(link) if each.name == "random_loss")
    assert found.kind == "at least"
    assert found.random_loss_pct == pytest.approx(0.5, abs=0.3)
    assert (lost.low or 0) < 0.5 < (lost.high or 0)
    assert f"{found.random_loss_pct:.3f} % ({lost.low:.3f} to {lost.high:.3f}) lost" in link_lines(link, side)[1]


def test_a_loss_in_the_queue_that_random_loss_explains_is_no_full_buffer(tmp_path: Path) -> None:
    known = Known(random_loss=0.005, first_loss_free=300, most_window=150, buffer_bytes=1_000_000, size_bytes=4_000_000)
    found = inferred(tmp_path, known, "server").buffer
    assert (found.kind, found.losses) == ("at least", 13)
    assert found.random_loss_pct == pytest.approx(0.5, abs=0.1)


@ENDS
def test_a_random_loss_before_the_queue_is_full_is_no_threshold(tmp_path: Path, side: str) -> None:
    known = Known(random_loss=0.003, buffer_bytes=1_000_000, size_bytes=12_000_000, seed=2)
    found = inferred(tmp_path, known, side).buffer
    assert (found.kind, found.losses) == ("tail", 242)
    assert found.bytes == pytest.approx(1_000_000, rel=0.01)


@pytest.mark.parametrize(
    "known",
    [Known(acks_lost=0.85), Known(acks_lost=0.5, one_way_ms=150, buffer_bytes=700_000), Known(ack_every=40)],
    ids=["a filter of ACKs", "each second ACK", "merged at the receiver"],
)
def test_acks_that_report_packets_together_or_late_show_no_loss_at_the_sender(tmp_path: Path, known: Known) -> None:
    """All losses are those of a full queue; which one they had met is not seen."""
    found = inferred(tmp_path, replace(known, size_bytes=5_000_000), "server")
    bounds = {each.name: each for each in items(found)}
    assert bounds["buffer_kind"].value == "at least"
    assert 0.4 * known.buffer_bytes < (bounds["buffer"].low or 0) <= known.buffer_bytes
    assert bounds["random_loss"].value is None
    assert f"{found.buffer.losses} packets lost, at which queue is not seen" in link_lines(found, "sender")[1]


@ENDS
def test_slow_start_ends_with_the_report_of_the_first_loss(tmp_path: Path, side: str) -> None:
    found = inferred(tmp_path, Known(), side)
    numbers = measured(found)
    assert numbers.exit_s is not None
    assert numbers.first_loss_s is not None
    assert 0 < numbers.exit_s - numbers.first_loss_s < 0.1
    assert numbers.mark_s[5] == pytest.approx(5e6 * 8 / 20e6, rel=0.15)
    assert numbers.mark_s[20] is None


def test_what_was_sent_again_for_nothing_shortens_no_round_trip(tmp_path: Path) -> None:
    """A late packet's ACK, soon after its second copy was sent, is not that copy's."""
    known = Known(most_window=120, late_share=0.01)
    path = present(at_sender(of_capture(written(tmp_path / "x.pcap", Download(known).server, known), [])))
    assert abs(path.base_rtt_ms - RTT_MS) <= known.stamp_ms


def test_a_handshake_that_was_sent_again_makes_no_second_copy_a_late_first_one(tmp_path: Path) -> None:
    """Its round trip contains the second until then: by that measure any answer to a second copy is too soon."""
    known = Known()
    opened, answered, *others = Download(known).server
    later = [
        replace(frame, t_s=frame.t_s + 1, tsval=frame.tsval + 1000, tsecr=frame.tsecr + 1000)
        for frame in (answered, *others)
    ]
    later[0] = replace(later[0], tsecr=answered.tsecr)
    file = written(tmp_path / "x.pcap", [opened, answered, *later], known)
    found = judged(file, None, [])[1]
    assert found.capacity.filter("known")["rate_mbps"].median() == pytest.approx(known.rate_mbps, rel=0.01)
    assert found.buffer.kind == "tail"
    assert found.buffer.bytes == pytest.approx(known.buffer_bytes, rel=0.05)


def test_a_late_packet_is_no_backlog(tmp_path: Path) -> None:
    """A fiftieth is late by 24 ms, so that the sender does not fill the link; of 4 ms a line says that it happens."""
    idle = Known(rate_mbps=8, one_way_ms=60, late_share=0.02, late_ms=24, buffer_bytes=360_000, size_bytes=3_000_000)
    with pytest.raises(UserError, match="steps of 100 ms with a backlog="):
        inferred(tmp_path, idle, "client")
    full = Known(rate_mbps=8, most_window=80, late_share=0.02, late_ms=4, size_bytes=3_000_000)
    found = inferred(tmp_path, full, "client")
    assert found.capacity["rate_mbps"].median() == pytest.approx(8, rel=0.01)
    assert "% of the packets were overtaken" in link_lines(found, "receiver")[-1]


@pytest.mark.parametrize(
    ("side", "known", "blind_s"),
    [("client", Known(late_share=0.002, late_ms=200), 0), ("server", Known(size_bytes=5_000_000), 0.02)],
    ids=["late by 0.5 MB of the link", "ACKs without their SACK blocks for a while"],
)
def test_an_overtaken_packet_makes_no_larger_queue(tmp_path: Path, side: str, known: Known, blind_s: float) -> None:
    frames = [replace(one, sack=()) if 0 < one.t_s - 0.5 < blind_s else one for one in getattr(Download(known), side)]
    found = judged(written(tmp_path / "x.pcap", frames, known), None, [])[1].buffer
    assert (found.kind, found.random_loss_pct) == ("tail", 0)
    assert found.bytes == pytest.approx(150_000, rel=0.02)


def test_where_nothing_waits_the_capacity_is_not_known(tmp_path: Path) -> None:
    known = Known(most_window=120)
    table = inferred(tmp_path, known, "client").capacity
    first = table.row(0, named=True)
    assert not first["known"]
    assert first["rate_mbps"] is None
    assert first["at_least_mbps"] < 20


def merged_at_times(frames: list[Frame], every: int) -> list[Frame]:
    """Join every so many pairs of segments that follow each other, as GRO does where few arrive at once."""
    out: list[Frame] = []
    pairs = 0
    for frame in frames:
        joins = bool(out) and out[-1].length == frame.length > 0 and out[-1].seq + frame.length == frame.seq
        pairs += joins
        if joins and pairs % every == 1:
            out[-1] = replace(frame, seq=out[-1].seq, length=out[-1].length + frame.length)
        else:
            out.append(frame)
    return out


def test_a_few_segments_that_the_receivers_host_merged_change_no_number(tmp_path: Path) -> None:
    """What is lost counts in full segments, and not in the largest that the capture holds."""
    known = Known(ack_every=4)
    frames = Download(known).client
    few = merged_at_times(frames, 100)
    assert 0 < sum(frame.length > MSS for frame in few) < 0.01 * sum(frame.length > 0 for frame in few)
    whole, cut = (judged(written(tmp_path / "x.pcap", each, known), None, [])[1] for each in (frames, few))
    assert (cut.buffer.losses, cut.mss_bytes) == (whole.buffer.losses, whole.mss_bytes)
    assert cut.buffer.bytes == whole.buffer.bytes
    assert cut.capacity["rate_mbps"].max() == pytest.approx(known.rate_mbps, rel=0.001)


def test_what_one_ack_reports_together_shows_no_rate_that_the_link_has_not(tmp_path: Path) -> None:
    """Only the first of it has a gap in front: it counts together, or not at all."""
    known = Known(rate_mbps=10, one_way_ms=100, buffer_bytes=300_000, size_bytes=4_000_000)
    rates = inferred(tmp_path, known, "server").capacity.filter("known")["rate_mbps"]
    assert (rates.min(), rates.max()) == pytest.approx((10, 10), rel=0.02)


BURSTS = Known(calls=True, call_pkts=40, call_s=40 * MSS * 8 / 14e6, call_count=42, held_every_s=0.004)


@ENDS
@pytest.mark.parametrize("known", [BURSTS, replace(BURSTS, held_s=0.003), Known()], ids=["idle host", "busy", "bulk"])
def test_an_application_that_writes_in_bursts_hides_the_capacity(tmp_path: Path, side: str, known: Known) -> None:
    """Two thirds of the link; a receiver's busy host moves the ends of each backlog, of which a bulk has few."""
    found = inferred(tmp_path, known, side)
    assert any("the link was backlogged for" in line for line in link_lines(found, side)) is known.calls
    capacity = next(each for each in items(found) if each.name == "capacity_median")
    assert capacity.low is not None
    assert capacity.high is not None
    assert capacity.low <= known.rate_mbps * 1.001
    assert known.rate_mbps <= capacity.high * 1.001
    assert (capacity.high / capacity.low > 1.1) is known.calls


@ENDS
def test_backlogs_as_short_as_what_is_late_by_itself_are_refused(tmp_path: Path, side: str) -> None:
    known = replace(BURSTS, call_pkts=20, call_s=0.029, call_count=85, held_every_s=0.01, held_s=0.008)
    with pytest.raises(
        UserError, match=r"mean backlog=\d+ ms: must be at least \d\d ms, for packets are late by up to"
    ):
        inferred(tmp_path, known, side)
