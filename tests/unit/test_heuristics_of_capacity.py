# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity: by both truths of the queue, by latency offset, and by median throughput."""

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.judge.median_throughput import median_after_mbps, throughput
from lab.judge.rules import lasting, latency_offset, truth
from lab.judge.rules.latency_offset import filling, last_ms, offsets
from lab.judge.rules.median_throughput_1s import median_first_second_mbps
from lab.judge.slow_start import SlowStartExit
from lab.judge.standing_queue import Queue
from lab.tables.link_capacity import LinkCapacity
from tests.brief import present
from tests.slow_start_model import PACKETS, Download, Path, download, packet

EVERY_S = 0.01
RTT_MS, RATE_MBPS = 100.0, 8.0
BYTES_PER_S = RATE_MBPS * 1e6 / 8
LINK = LinkCapacity.constant(RATE_MBPS, RTT_MS)


def sampled(backlog: Callable[[float], bool], sent_share: float = 1.0, until_s: float = 1.0) -> pl.DataFrame:
    """A queue that is filled when the function returns true, on a link that sends this share of its rate."""
    times = [EVERY_S * n for n in range(round(until_s / EVERY_S))]
    columns = {
        "t_s": times,
        "backlog_bytes": [1514 * backlog(t_s) for t_s in times],
        "sent_bytes": [round(BYTES_PER_S * sent_share * t_s) for t_s in times],
    }
    return pl.DataFrame(columns)


@pytest.mark.parametrize(
    ("is_filled", "sent_share", "found_s"),
    [
        (lambda t_s: t_s >= 0.3, 1.0, 0.3),  # the first sample of a queue that stays
        (lambda t_s: t_s % 0.1 < 0.08 or t_s >= 0.6, 1.0, 0.6),  # bursts shorter than a base RTT do not count
        (lambda t_s: t_s >= 0.3 and abs(t_s - 0.35) > 1e-6, 1.0, 0.36),  # an empty sample starts the count again
        (lambda t_s: t_s >= 0.95, 1.0, None),  # too late to stay for an RTT
        (lambda t_s: t_s >= 0.3, 0.5, None),
        (lambda t_s: t_s >= 0.3, 0.94, None),  # less than nineteen twentieths: the link is not busy
        (lambda t_s: t_s >= 0.3, 0.96, 0.3),
    ],
)
def test_the_capacity_is_the_first_sample_of_a_queue_that_stays_for_an_rtt_on_a_busy_link(
    is_filled: Callable[[float], bool], sent_share: float, found_s: float | None
) -> None:
    assert truth.capacity_s(sampled(is_filled, sent_share), LINK) == (found_s and pytest.approx(found_s))
    assert truth.capacity_s(sampled(is_filled, sent_share, until_s=0), LINK) is None  # without samples


@pytest.mark.parametrize("base_rtt_ms", [0, 1, 19.5, 20.5])
def test_the_queue_stands_for_three_samples_however_short_the_base_rtt_is(base_rtt_ms: float) -> None:
    link = LinkCapacity.constant(RATE_MBPS, base_rtt_ms)
    for found in (truth.capacity_s, lasting.capacity_s):
        assert found(sampled(lambda t_s: t_s >= 0.295), link) == pytest.approx(0.3)
        assert found(sampled(lambda t_s: 0.295 <= t_s < 0.315), link) is None
        assert found(sampled(lambda _: True, until_s=EVERY_S), link) is None  # one sample


@given(st.floats(25, 200), st.floats(0, 1))
def test_a_link_that_sends_whole_frames_is_busy_however_few_a_base_rtt_has(base_rtt_ms: float, begun: float) -> None:
    frames_per_s = 130
    link = LinkCapacity.constant(frames_per_s * 1514 * 8 / 1e6, base_rtt_ms)
    for share, found_s in ((1.0, 0.3), (0.25, None)):
        frames = (share * frames_per_s * pl.col("t_s") + begun).floor()
        samples = sampled(lambda t_s: t_s >= 0.295).with_columns(sent_bytes=1514 * frames)
        assert truth.capacity_s(samples, link) == (found_s and pytest.approx(found_s))


@given(st.floats(1, 7.6), st.floats(0, 1))
def test_a_link_that_needs_longer_than_a_base_rtt_for_a_frame_is_busy_between_two_departures(
    base_rtt_ms: float, begun: float
) -> None:
    frames_per_s = 10
    link = LinkCapacity.constant(frames_per_s * 1514 * 8 / 1e6, base_rtt_ms)
    frames = (frames_per_s * pl.col("t_s") + begun).floor()
    samples = sampled(lambda t_s: t_s >= 0.295).with_columns(sent_bytes=1514 * frames)
    for found in (truth.capacity_s, lasting.capacity_s):
        assert found(samples, link) == pytest.approx(0.3)


def test_what_never_fills_the_link_or_came_before_the_queue_is_no_capacity() -> None:
    late = sampled(lambda t_s: t_s >= 0.3).with_columns(sent_bytes=pl.col("sent_bytes").clip(upper_bound=300_000))
    assert truth.capacity_s(late, LINK) is None
    assert truth.capacity_s(sampled(lambda t_s: t_s >= 0.3, sent_share=0), LinkCapacity.constant(0, RTT_MS)) is None
    path = Path(rate_mbps=8, base_rtt_ms=200, exit_cwnd_pkts=40)
    assert (
        truth.capacity_s(download(path).tables()["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms))
        is None
    )


def test_what_the_queue_held_before_the_client_requested_its_data_is_no_capacity() -> None:
    handshake = sampled(lambda t_s: t_s < 0.2 or t_s >= 0.6).with_columns(pl.col("t_s") - 0.15)
    for rule in (truth, lasting):
        assert rule.capacity_s(handshake, LINK, from_s=0.1) == pytest.approx(0.45)
        assert (rule.capacity_s(sampled(lambda _: True).with_columns(pl.col("t_s") - 0.15), LINK) or 0) >= 0


def test_a_modelled_slow_start_fills_the_queue_when_its_window_exceeds_the_bandwidth_delay_product() -> None:
    path = Path(rate_mbps=8, base_rtt_ms=200)
    tables = download(path).tables()
    found_s = present(truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms)))
    at_that_time = tables["acks"].filter(pl.col("t_s") <= found_s)["cwnd_pkts"][-1]
    bdp_pkts = path.rate_mbps * 1e6 * path.base_rtt_ms / 1000 / 8 / 1514
    assert bdp_pkts < 2 * at_that_time < 4 * bdp_pkts


FAST, SLOW = 8.0, 1.0  # Mb/s: an eighth, three doublings
STEADY = Path(rate_mbps=FAST, base_rtt_ms=200, buffer_bytes=4_000_000, duration_s=8)
# The second spell begins while the window is a fifth of what fills the link at its fastest.
SPELL = replace(STEADY, spell=(0.75, 1.15, SLOW))


def found(path: Path, rule: object = lasting, exit_s: float | None = None) -> float | None:
    qdisc = download(path).qdisc()
    return truth.capacity_s(qdisc, path.link) if rule is truth else lasting.capacity_s(qdisc, path.link, exit_s)


def last_empty_s(model: Download, before_s: float) -> float:
    """When the model's queue was last empty, from the exact times of its frames."""
    free_s, empty_s = 0.0, 0.0
    for enters_s, leaves_s in sorted(model.queue):
        if free_s < enters_s < before_s:
            empty_s = enters_s
        free_s = max(free_s, leaves_s)
    return empty_s


def test_both_truths_are_one_on_a_steady_link_and_where_a_slow_spell_outlasts_three_doublings() -> None:
    assert found(STEADY) == found(STEADY, truth) is not None
    long = replace(SPELL, spell=(0.75, 0.75 + 6 * 0.2, SLOW))
    assert found(long) == found(long, truth) is not None


def test_a_slow_spell_that_ends_before_the_window_has_grown_is_no_lasting_capacity() -> None:
    brief_s, lasting_s = present(found(SPELL, truth)), present(found(SPELL))
    assert 0.75 <= brief_s < 1.15 < lasting_s
    assert lasting_s == pytest.approx(last_empty_s(download(SPELL), before_s=4), abs=2 * EVERY_S)


def test_the_queue_must_stand_for_a_round_trip_and_one_for_each_doubling_that_the_link_has_spare() -> None:
    queue = Queue.of(download(SPELL).qdisc(), SPELL.link)
    at_s = dict(zip((queue.t_s / EVERY_S).round().astype(int), lasting.refill_s(queue), strict=True))
    assert at_s[80] == pytest.approx(0.2 * (1 + 3))
    assert at_s[30] == pytest.approx(0.2)
    assert lasting.refill_s(Queue.of(download(SPELL).qdisc(), LinkCapacity.constant(0, 200))).min() == float("inf")


def exit_of(path: Path) -> float:
    return float(download(path).exits[0]["t_s"])


def test_an_exit_in_the_slow_spell_is_before_the_lasting_capacity_and_after_the_brief_one() -> None:
    left = replace(SPELL, exit_cwnd_pkts=50)
    exit_s, brief_s, lasting_s = exit_of(left), present(found(left, truth)), found(left, lasting, exit_of(left))
    assert brief_s < exit_s
    assert lasting_s is None or lasting_s > exit_s


def test_both_truths_are_one_where_the_base_rtt_is_shorter_than_three_samples() -> None:
    link = LinkCapacity.constant(RATE_MBPS, 10)  # 10 kB in a round trip, 25 kB in two and a half samples
    sent = [max(0, round(BYTES_PER_S * (EVERY_S * n - 0.3))) for n in range(100)]
    qdisc = sampled(lambda t_s: t_s > 0.295).with_columns(pl.col("backlog_bytes") * 4, sent_bytes=pl.Series(sent))
    assert truth.capacity_s(qdisc, link) == lasting.capacity_s(qdisc, link, 0.315) == pytest.approx(0.3)


def drained(qdisc: pl.DataFrame, from_s: float) -> pl.DataFrame:
    """The samples of a sender that lets the queue run empty."""
    return qdisc.with_columns(backlog_bytes=pl.when(pl.col("t_s") > from_s).then(0).otherwise("backlog_bytes"))


def test_after_the_exit_what_was_in_flight_stays_so_and_draining_on_purpose_is_not_early() -> None:
    changing = replace(STEADY, spell=(0.9, 8.0, FAST / 2))
    full_s, qdisc = present(found(changing)), download(changing).qdisc()
    exit_s = full_s + 0.3
    assert lasting.capacity_s(drained(qdisc, exit_s), changing.link, exit_s) == full_s
    assert lasting.capacity_s(drained(qdisc, exit_s), changing.link) is None
    queue = Queue.of(download(STEADY).qdisc(), STEADY.link)
    left, rtt = 150, round(STEADY.base_rtt_ms / 1000 / EVERY_S)
    kept = lasting.kept(queue, float(queue.t_s[left]))
    in_flight = (kept.backlog_bytes + kept.sent_bytes)[left:] - kept.sent_bytes[left - rtt : -rtt]
    assert in_flight == pytest.approx([in_flight[0]] * len(in_flight), abs=1)
    assert kept.backlog_bytes[-1] < queue.backlog_bytes[-1]


def test_a_queue_that_stands_when_the_samples_end_is_not_known_to_last() -> None:
    qdisc = download(STEADY).qdisc()
    full_s = present(truth.capacity_s(qdisc, STEADY.link))
    assert lasting.unfinished(qdisc, full_s)
    assert not lasting.unfinished(qdisc, full_s - 0.3)
    assert not lasting.unfinished(qdisc, 100.0)


MIN_RTT_MS = 600.0


def series(*points: tuple[float, float]) -> pl.DataFrame:
    return pl.DataFrame(points, schema={"t_s": pl.Float64, "offset_ms": pl.Float64}, orient="row")


def arrivals(*late_ms: float, first_tsval: int = 1000, clock_ahead_ms: int = 0) -> pl.DataFrame:
    """A segment sent each 100 ms, each this late at the client."""
    rows = [
        packet(0.1 * n + late / 1000, True, len_bytes=1448, tsval=(first_tsval + clock_ahead_ms + 100 * n) % 2**32)
        for n, late in enumerate(late_ms)
    ]
    return pl.DataFrame(rows, schema=PACKETS, orient="row")


@pytest.mark.parametrize(
    ("points", "found_s"),
    [
        ([(9.0, 40), (10.5, 299), (10.6, 301), (12.0, 1201), (25.0, 2500)], 10.5),  # from 1200 ms back to 300 ms
        ([(10.0, 100), (12.0, 1300), (13.0, 50), (14.0, 1300)], 10.0),  # a dip after the link was seen full
        ([(10.0, 100), (12.0, 200), (12.0, 1300)], 10.0),  # a segment of the instant at which it was seen full
        ([(1.0, 0), (2.0, 1200)], None),  # exactly twice the minimum RTT is not yet above it
        ([(1.0, 0), (2.0, 1100), (3.0, 1150)], None),  # a buffer too shallow for twice the minimum RTT
        ([(1.0, 400), (2.0, 1300), (3.0, 0)], None),  # high from the start: nowhere to go back to
    ],
)
def test_the_capacity_is_traced_back_from_twice_the_minimum_rtt_to_half_of_it(
    points: list[tuple[float, float]], found_s: float | None
) -> None:
    assert latency_offset.capacity_s(series(*points), MIN_RTT_MS) == found_s


def test_the_smallest_offset_is_removed_and_half_the_minimum_rtt_is_a_sign_of_a_queue() -> None:
    assert offsets(arrivals(305, 300, 340))["offset_ms"].to_list() == pytest.approx([5, 0, 40])
    again = [packet(t_s, True, len_bytes=1448, tsval=tsval) for t_s, tsval in ((0.3, 1000), (2.3, 3000))]
    assert offsets(pl.DataFrame(again, schema=PACKETS))["offset_ms"].to_list() == pytest.approx([0, 0])
    assert offsets(pl.DataFrame([packet(0.3, True)], schema=PACKETS)).is_empty()  # pure ACKs have none
    shown = series((1.0, 0), (2.0, 300), (3.0, 100))
    assert [last_ms(shown, t_s) for t_s in (0.5, 2.5, 3.0)] == [None, 300, 100]
    assert [filling(each, MIN_RTT_MS) for each in (None, 300, 100)] == [False, True, False]
    assert not filling(300, MIN_RTT_MS, back_to_rtts=0.6)


@given(st.integers(0, 2**32 - 1))
def test_neither_clock_difference_nor_wrap_of_the_timestamp_matters(first_tsval: int) -> None:
    found = offsets(arrivals(300, 310, 900, 305, first_tsval=first_tsval))["offset_ms"].to_list()
    assert found == pytest.approx([0, 10, 600, 5])


def test_in_a_modelled_slow_start_the_rule_lags_the_true_capacity_by_less_than_three_rtts() -> None:
    path = Path(rate_mbps=8, base_rtt_ms=200, buffer_bytes=600_000)
    tables = download(path).tables()
    true_s = present(truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms)))
    found_s = present(latency_offset.capacity_s(offsets(tables["packets"]), path.base_rtt_ms))
    assert true_s < found_s < true_s + 3 * path.base_rtt_ms / 1000


PER_SEGMENT_MBPS = 1448 * 8 / 0.015 / 1e6


def segments_at(*times_s: float) -> pl.DataFrame:
    return pl.DataFrame([packet(t_s, True, len_bytes=1448) for t_s in times_s], schema=PACKETS)


def intervals(*rates_mbps: float) -> pl.DataFrame:
    rows = [(0.015 * n, 0.015 * (n + 1), rate) for n, rate in enumerate(rates_mbps)]
    return pl.DataFrame(rows, schema=["begin_s", "end_s", "throughput_mbps"], orient="row")


def test_payload_is_counted_in_whole_intervals_of_15_ms() -> None:
    counted = throughput(segments_at(0.001, 0.014, 0.031, 0.1))
    assert counted["throughput_mbps"].to_list() == pytest.approx([2 * PER_SEGMENT_MBPS, 0, PER_SEGMENT_MBPS, 0, 0, 0])
    assert counted["begin_s"].to_list() == pytest.approx([0.015 * n for n in range(6)])
    assert counted["end_s"].to_list() == pytest.approx([0.015 * n for n in range(1, 7)])
    assert throughput(segments_at(0.001, 0.016)).height == 1
    assert throughput(pl.DataFrame([packet(0.5, False), packet(0.6, True)], schema=PACKETS)).is_empty()


def test_the_medians_are_of_the_first_second_and_of_the_time_after_the_exit() -> None:
    assert median_first_second_mbps(intervals(*[10.0] * 66, *[90.0] * 200)) == 10
    satellite = intervals(*[0.0] * 50, *[8.0] * 16, *[120.0] * 1000)
    assert median_first_second_mbps(satellite) == 0
    assert median_first_second_mbps(intervals(*[10.0] * 65)) is None  # a download that ended within its first second
    assert median_after_mbps(intervals(1, 1, 1, 50, 60, 70), exit_s=0.04) == 60
    assert median_after_mbps(intervals(1, 2, 3), exit_s=None) is None  # never left slow start
    assert median_after_mbps(intervals(1, 2, 3), exit_s=5.0) is None  # nothing after the exit
    assert SlowStartExit(1.0, 7500, 600, "search").bitrate_mbps(1448) == pytest.approx(144.8)  # window over RTT
