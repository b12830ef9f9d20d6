# SPDX-License-Identifier: GPL-2.0-or-later
"""What ACKs and the capture show: RTT samples, delivered bytes, the first loss, and the window over the RTT."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.judge.ack_stream import ack_stream, windows
from lab.judge.loss import SLACK_S, agrees_with_drops, drops_s, first_hole_s, first_loss_s, first_mark_s
from lab.judge.rate_rule import first_reached_s
from lab.judge.rtt import min_rtt_ms
from tests.brief import present
from tests.examples import examples
from tests.slow_start_model import ACK, ACKS, ECE, PACKETS, SYN, Path, download, packet


def smoothed(*rows: tuple[float, int]) -> pl.DataFrame:
    """Rows of acks.parquet a second apart: smoothed RTT in ms, and the bytes acknowledged so far."""
    known = ({"srtt_ms": srtt_ms, "snd_una_bytes": una_bytes} for srtt_ms, una_bytes in rows)
    return pl.DataFrame([{"t_s": float(n), "flow": 1} | row for n, row in enumerate(known)], schema=ACKS)


def kernel_srtt_ms(first_us: int, samples_us: list[int]) -> list[float]:
    """tcp_rtt_estimator: eight times the smoothed RTT is kept, whole microseconds of it are shown."""
    kept, shown = first_us * 8, [first_us / 1000]
    for sample_us in samples_us:
        kept += sample_us - (kept >> 3)
        shown.append((kept >> 3) / 1000)
    return shown


@given(st.lists(st.integers(1_000, 3_000_000), min_size=1, max_size=50))
def test_the_samples_that_a_linux_sender_smoothed_are_recovered_to_some_microseconds(samples_us: list[int]) -> None:
    srtt_ms = kernel_srtt_ms(600_000, samples_us)
    reported = ack_stream(smoothed(*((srtt, 1448 * n + 2) for n, srtt in enumerate(srtt_ms))))
    assert reported["rtt_us"].to_list() == pytest.approx(samples_us, abs=8 + 7)  # of whole microseconds


def test_an_ack_delivered_what_the_next_row_finds_acknowledged_and_has_the_smoothed_rtt_without_a_sample() -> None:
    reported = ack_stream(smoothed((600, 1449), (600, 2897), (600, 5793)))
    assert reported.select("t_us", "delivered_bytes").rows() == [(0, 2897), (1_000_000, 5793)]
    assert ack_stream(smoothed((640, 1), (640, 1), (645, 1449)))["t_us"].to_list() == [1_000_000]  # not the handshake's
    assert ack_stream(smoothed((640, 1449), (640, 2897)))["rtt_us"].to_list() == [640_000]
    assert ack_stream(smoothed((640, 1449), (640, 2897)), flow=2).is_empty()


def capture(*rows: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=PACKETS, orient="row")


def syn(t_s: float, **more: object) -> dict[str, object]:
    return packet(t_s, False, flags=SYN, **({"tsval": None} | more))


def syn_ack(t_s: float, **more: object) -> dict[str, object]:
    return packet(t_s, True, flags=SYN | ACK, **({"tsecr": None} | more))


SENT, ECHO = packet(1.0, False, tsval=500), packet(1.6, True, tsecr=500, len_bytes=1448)


@pytest.mark.parametrize(
    ("rows", "found_ms"),
    [
        ([syn(0.0), syn_ack(0.612)], 612),  # the handshake alone
        ([syn(0.0), packet(0.1, True, flags=ACK, tsecr=None), syn_ack(0.612)], 612),  # a stray packet ends none
        ([packet(0.0, False, flags=ACK, tsval=None), syn(0.1), syn_ack(0.712)], 612),  # nor does it begin one
        ([syn(0.0, tsval=1), syn_ack(0.9, tsecr=1), SENT, ECHO], 600),  # an echo shorter than the handshake
        ([packet(0.2, True, tsval=500, len_bytes=1448), SENT, ECHO], 600),  # a time stamp of the server's own
        ([syn(0.0), syn_ack(0.0004)], 0.4),  # below a millisecond
        ([SENT, packet(1.1, True, tsecr=500, flags=0x04), ECHO], 600),  # a reset, without an ACK, echoes nothing
        ([row | {"flow": 0} for row in (syn(0.0, tsval=1), syn_ack(0.1, tsecr=1))], None),  # other flows
        ([packet(0.0, False, flags=SYN)], None),  # without any answer
    ],
)
def test_the_least_round_trip_is_of_the_handshake_or_of_an_echoed_time_stamp(
    rows: list[dict[str, object]], found_ms: float | None
) -> None:
    assert min_rtt_ms(capture(*rows)) == (found_ms and pytest.approx(found_ms))


def test_a_tsval_shared_by_several_acks_is_timed_from_the_first_to_its_first_echo() -> None:
    sent = [packet(1.0 + 0.0002 * number, False, tsval=500) for number in range(4)]
    echoes = [packet(1.6 + 0.0002 * number, True, tsecr=500, len_bytes=1448) for number in range(4)]
    assert min_rtt_ms(capture(*sent, *echoes)) == pytest.approx(600)


@given(st.floats(5, 800))
@settings(max_examples=examples(30))  # each models a download
def test_a_download_shows_the_base_rtt_of_its_path_within_a_tick(base_rtt_ms: float) -> None:
    found = present(min_rtt_ms(download(Path(base_rtt_ms=base_rtt_ms, duration_s=2)).tables()["packets"]))
    assert base_rtt_ms - 1e-6 <= found <= base_rtt_ms + 2


FIN, RST = 0x01, 0x04  # RFC 9293, section 3.1


def acks(*fields: dict[str, Any]) -> pl.DataFrame:
    """One packet from the client each second, an ACK of byte 1000 unless its fields say otherwise."""
    rows = [packet(float(n), False, **({"ack_bytes": 1000} | given)) for n, given in enumerate(fields)]
    return pl.DataFrame(rows, schema=PACKETS, orient="row")


SAME: dict[str, Any] = {}


UPDATES = [{"window_bytes": 65535 + 1000 * n} for n in range(8)]


@pytest.mark.parametrize(
    ("fields", "found_s"),
    [
        ([SAME] * 5, 3.0),  # the third duplicate is the fourth ACK of a number
        ([SAME, SAME, SAME, {"ack_bytes": 2000}, {"ack_bytes": 2000}], None),  # reordering, and not loss
        (UPDATES, None),  # of the window: no duplicates
        ([SAME, SAME, SAME, UPDATES[7], UPDATES[7]], 4.0),  # one among duplicates does not start the count again
        ([SAME, *(update | {"sack_edges": 1} for update in UPDATES[:4])], 3.0),  # with SACK the window may change
        ([{"len_bytes": 37}] * 6, None),  # packets with payload
        *(([SAME, SAME, SAME, {"flags": ACK | flag}], None) for flag in (FIN, SYN, RST)),
    ],
)
def test_the_first_loss_is_the_third_duplicate_ack(fields: list[dict[str, Any]], found_s: float | None) -> None:
    assert first_loss_s(acks(*fields)) == found_s


@pytest.mark.parametrize(("behind_bytes", "found_s"), [(0, None), (1448, 3.0)])
def test_a_client_that_lacks_nothing_repeats_itself_for_copies_and_not_for_a_loss(
    behind_bytes: int, found_s: float | None
) -> None:
    """The sender repeats byte 1 to 999, which the client has; or what it sent first has a hole behind it."""
    known = packet(-0.6, True, seq_bytes=1, len_bytes=999)
    more = packet(-0.5, True, seq_bytes=1000 + behind_bytes, len_bytes=behind_bytes)
    copies = [packet(number + 0.9, True, seq_bytes=1, len_bytes=999) for number in range(4)]
    answers = acks(*[{"sack_edges": 1}] * 5).rows(named=True)
    rows = sorted([known, more, *copies, *answers], key=lambda row: row["t_s"])
    assert first_loss_s(pl.DataFrame(rows, schema=PACKETS, orient="row")) == found_s


def test_the_first_loss_is_of_acks_of_the_flow_with_sack_or_without() -> None:
    packets = acks(*[SAME] * 6)
    assert first_loss_s(packets.with_columns(to_client=True)) is None
    assert first_loss_s(packets.with_columns(flow=pl.lit(0, pl.UInt8))) is None
    assert first_loss_s(packets.with_columns(sack_edges=pl.lit(None, pl.UInt8))) == 3.0
    assert agrees_with_drops(None, dropped(0, 0, 1), seen_by, end_s=4.0)


def seen_by(drop_s: float) -> float:
    """Return when a queue of 2 s has drained, and a path of 600 ms."""
    return drop_s + 2.0 + 0.6


def dropped(*drops_pkts: int) -> pl.Series:
    return drops_s(pl.DataFrame(schema=PACKETS), queue(*drops_pkts))


def queue(*drops_pkts: int) -> pl.DataFrame:
    return pl.DataFrame({"t_s": [float(n) for n in range(len(drops_pkts))], "drops_pkts": drops_pkts})


@pytest.mark.parametrize(
    ("loss_s", "drops", "agrees", "why"),
    [
        (None, (0, 0, 0), True, "nothing dropped, nothing lost"),
        (1.5, (0, 0, 0), False, "a loss that the bottleneck did not cause"),
        (3.5, (0, 1, 1), True, "dropped, and seen when the queue before it had drained"),
        (0.5, (0, 1, 1), False, "lost before anything was dropped"),
        (1.0 - SLACK_S, (0, 1, 1), True, "lost just before the sample that shows the drop"),
        (1.0 + 2.0 + 0.6 + SLACK_S, (0, 1, 1), True, "seen when the queue and the path had just drained"),
        (9.0, (0, 1, 1), False, "lost long after the drop must have shown"),
        (None, (0, 1, 1), False, "a drop that the client never noticed"),
    ],
)
def test_first_loss_and_first_drop_must_explain_each_other(
    loss_s: float | None, drops: tuple[int, ...], agrees: bool, why: str
) -> None:
    assert agrees_with_drops(loss_s, dropped(*drops), seen_by, end_s=30.0) is agrees, why


@pytest.mark.parametrize(
    ("loss_s", "hole_s", "made_good", "agrees", "why"),
    [
        (None, None, True, True, "sent again before a third segment stood behind the hole"),
        (None, (3.0, 3.5), True, False, "three segments behind the hole, and no third duplicate"),
        (None, None, False, False, "dropped, and never sent again"),
        (9.0, (3.0, 9.0), False, True, "the end of a window was dropped: what is behind came a round later"),
        (9.0, (8.9, 9.0), True, True, "the first drop was made good, and the loss follows the second one"),
        (9.0, (8.9, 9.0), False, False, "what was queued before the drop came long after it must have"),
        (9.0, (4.0, 5.0), True, False, "a third duplicate was due long before"),
        (20.0, (19.9, 20.0), True, False, "lost long after the last drop must have shown"),
    ],
)
def test_a_drop_explains_the_hole_behind_what_was_queued_before_it(
    loss_s: float | None, hole_s: tuple[float, float] | None, made_good: bool, agrees: bool, why: str
) -> None:
    drops = dropped(0, 1, 1, 1, 1, 1, 1, 2, *[2] * 20)
    assert agrees_with_drops(loss_s, drops, seen_by, 30.0, hole_s, made_good=made_good) is agrees, why


def test_what_was_dropped_before_the_client_requested_its_data_was_no_segment() -> None:
    request = pl.DataFrame([packet(2.0, False, len_bytes=37)], schema=PACKETS, orient="row")
    assert drops_s(request, queue(1, 2, 2, 3, 3, 5)).to_list() == [3.0, 5.0]


@pytest.mark.parametrize(
    ("seqs", "found_s"),
    [
        ((1, 2, 3, 4, 5, 6), None),
        ((1, 3, 4, 5, 6), (0.0, 3.0)),  # 2 is lost
        ((3, 4, 5, 1, 2), (0.0, 2.0)),  # the first ones are lost
        ((1, 3, 4, 2, 5, 6), None),  # two behind the hole, and then what was lost
        ((1, 3, 4, 2, 5, 7, 8, 9), (4.0, 7.0)),  # the second hole has three
        ((1, 3, 3, 4), (0.0, 3.0)),  # a copy is answered, too
        ((1, 3, 6, 2, 5, 7, 8), (3.0, 6.0)),  # behind the second hole lay one that came before the first was filled
        ((1, 3, 4, 2, 5, 6, 7, 2), None),  # a copy that comes behind fills nothing
        ((1, 2, 4, 5), None),  # it ends before a third
        ((), None),
    ],
)
def test_a_third_duplicate_is_due_at_the_third_segment_behind_a_hole(
    seqs: tuple[int, ...], found_s: tuple[float, float] | None
) -> None:
    rows = [packet(float(n), True, seq_bytes=1000 * seq - 999, len_bytes=1000) for n, seq in enumerate(seqs)]
    assert first_hole_s(pl.DataFrame(rows, schema=PACKETS, orient="row")) == found_s


def test_in_a_modelled_overflow_the_client_sees_the_drop_after_the_queue_has_drained() -> None:
    path = Path()
    tables = download(path).tables()
    drain_s = path.buffer_bytes * 8 / (path.rate_mbps * 1e6)
    loss_s, drop_s = present(first_loss_s(tables["packets"])), drops_s(tables["packets"], tables["qdisc"])[0]
    assert drop_s + drain_s < loss_s

    def drained(drop_s: float) -> float:
        return drop_s + drain_s + path.base_rtt_ms / 1e3

    drops = drops_s(tables["packets"], tables["qdisc"])
    assert agrees_with_drops(loss_s, drops, drained, path.duration_s)


@pytest.mark.parametrize(
    ("fields", "found_s"),
    [
        ([SAME, {"flags": ACK | ECE}, {"flags": ACK | ECE}], 1.0),
        ([{"flags": SYN | ECE}, {"flags": ACK}], None),  # a SYN's flag asks for ECN
        ([SAME, SAME], None),
    ],
)
def test_the_first_mark_is_the_first_ack_that_echoes_one(fields: list[dict[str, Any]], found_s: float | None) -> None:
    assert first_mark_s(acks(*fields)) == found_s
    assert first_mark_s(acks(*fields).with_columns(to_client=True)) is None


MSS_BYTES = 1448
FIRST = ((0.0, 0), (0.01, 1), (0.02, 2))  # time and bytes acknowledged, the SYN's included, before each ACK
SEGMENT_MBPS = MSS_BYTES * 8 / 10 / 1000  # one segment in each RTT of 10 ms


def probed(*rows: tuple[float, int, float, int]) -> pl.DataFrame:
    """Rows of acks.parquet: time, window and smoothed RTT as an ACK finds them, and segments acknowledged by then."""
    names = ("t_s", "cwnd_pkts", "srtt_ms")
    known = [dict(zip(names, row[:3], strict=True)) | {"snd_una_bytes": MSS_BYTES * row[3] + 1} for row in rows]
    return pl.DataFrame([{"flow": 1} | row for row in known], schema=ACKS)


def doubling() -> pl.DataFrame:
    """A window that doubles every RTT of 10 ms: what an ACK does to it stands in the row after it."""
    windows = [(0.01 * n, 10 * 2 ** max(n - 1, 0), 10.0, 10 * (2 ** max(n - 1, 0) - 1)) for n in range(8)]
    return probed(*windows)


@pytest.mark.parametrize(
    ("rate_mbps", "found_s"),
    [
        (39.9 * SEGMENT_MBPS, 0.02),  # that of the ACK after which the window reaches the rate
        (41 * SEGMENT_MBPS, 0.03),  # between two windows: with the larger
        (5 * SEGMENT_MBPS, 0.01),  # the handshake does not count, though the first window reaches the rate
        (1e6, None),
        (None, None),
    ],
)
def test_a_rate_is_reached_with_the_ack_that_makes_its_window(rate_mbps: float | None, found_s: float | None) -> None:
    assert first_reached_s(windows(doubling()), MSS_BYTES, rate_mbps) == (found_s and pytest.approx(found_s))
    assert first_reached_s(windows(doubling(), flow=2), MSS_BYTES, rate_mbps) is None  # other flows do not count


def test_a_longer_rtt_makes_less_of_the_same_window_and_an_ack_of_the_first_byte_counts() -> None:
    slower = probed((0.0, 10, 10, 0), (0.01, 100, 10, 10), (0.02, 100, 20, 20), (0.03, 100, 20, 30))
    assert first_reached_s(windows(slower), MSS_BYTES, 100 * SEGMENT_MBPS) == pytest.approx(0.0)
    assert first_reached_s(windows(slower), MSS_BYTES, 101 * SEGMENT_MBPS) is None
    first = [{"flow": 1, "t_s": t_s, "cwnd_pkts": 10, "srtt_ms": 10.0, "snd_una_bytes": una} for t_s, una in FIRST]
    assert first_reached_s(windows(pl.DataFrame(first, schema=ACKS)), MSS_BYTES, SEGMENT_MBPS) == pytest.approx(0.01)
