# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums downloads up, over values given by hand: medians, cycle, rate, bands, what is in flight, slow start."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from ack_logs import IP_BYTES, MSS
from lab_papers.evaluation.recorded.bands import bands, marks
from lab_papers.evaluation.recorded.download import Download, Floats, _inflight, emulated, recorded
from lab_papers.evaluation.recorded.rate import _correlation, acked_after_s, cycle_hz, median_rtt_ms, rate, spells

from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from lab.traces.columns import DTYPES
from lab.traces.recording import Recording
from tests.brief import present
from tests.stored_run import store_run


def test_the_median_counts_time_and_not_acks() -> None:
    t_s = np.concatenate([np.arange(0.5, 8, 0.5), np.linspace(8, 9, 5000)])
    one = flat(t_s, np.where(t_s < 8, 600.0, 900.0))
    assert median_rtt_ms(one) == pytest.approx(600)


def test_the_median_is_that_of_the_first_nine_seconds() -> None:
    t_s = np.arange(0.1, 20, 0.1)
    assert median_rtt_ms(flat(t_s, np.where(t_s < 4.8, 600.0, 900.0))) == pytest.approx(600)
    assert median_rtt_ms(flat(t_s, np.where(t_s < 4.3, 600.0, 900.0))) == pytest.approx(900)


def test_the_cycle_of_round_trips_is_found() -> None:
    t_s = np.arange(0.6, 9, 0.04)
    assert cycle_hz(flat(t_s, 900 + 300 * np.sin(2 * np.pi * 0.5 * t_s))) == pytest.approx(0.5, abs=0.05)


def test_a_steady_rate_has_its_mean_and_no_spread() -> None:
    t_s = np.arange(0.005, 20, 0.01)
    one = flat(t_s, np.full(t_s.size, 600.0), delivered_bytes=np.arange(1.0, t_s.size + 1) * MSS * 10)
    found = present(rate(one))
    assert found.mean_mbps == pytest.approx(10 * IP_BYTES * 8 / 0.01 / 1e6)
    assert found.ln_sd == pytest.approx(0, abs=1e-9)


def test_the_rate_is_taken_until_the_first_loss_was_noticed() -> None:
    t_s = np.arange(0.005, 20, 0.01)
    one = flat(t_s, np.full(t_s.size, 600.0), delivered_bytes=np.arange(1.0, t_s.size + 1) * MSS)
    whole, until_loss = present(rate(one)), present(rate(replace(one, loss_s=15.0)))
    assert (whole.bins, until_loss.bins) == (17, 8)


def test_the_rate_is_taken_while_the_link_decides_and_not_once_the_window_does() -> None:
    t_s = np.arange(0.005, 20, 0.01)
    acked = np.arange(1.0, t_s.size + 1) * MSS
    one = flat(t_s, np.full(t_s.size, 600.0), delivered_bytes=acked)
    left = present(rate(replace(one, inflight_bytes=np.where(t_s < 15.0, acked, 0.5 * acked))))
    assert left.bins == 7


def in_turns(queue_ms: float = 3000.0) -> Download:
    """Return a download at 10 Mb/s for 4 s and 1 Mb/s for 6 s in turns, behind a queue but for its first 3 s."""
    t_s = np.arange(0.0, 43.2, 0.01)
    mbps = np.where((t_s % 10) < 4, 10.0, 1.0)
    share = MSS / IP_BYTES
    return flat(t_s, np.where(t_s < 3, 600.0, queue_ms), np.cumsum(mbps) * 1e6 / 8 * 0.01 * share)


def test_spells_have_their_lengths_and_rates() -> None:
    found = present(spells(in_turns()))
    assert found.lasts_s == pytest.approx(6)
    assert found.apart_s == pytest.approx((1 + 3 * 4 + 3) / 4, abs=0.3)  # the last stretch has not ended
    assert found.first_s == pytest.approx(4, abs=0.5)
    assert (found.slow.median_mbps, found.usual.median_mbps) == pytest.approx((1, 10), rel=0.01)
    assert (found.slow.ln_sd, found.usual.ln_sd) == pytest.approx((0, 0), abs=0.01)


def test_spells_are_looked_for_where_a_queue_stands_and_until_a_time() -> None:
    assert spells(in_turns(queue_ms=1700.0)) is None
    found = present(spells(in_turns(), until_s=20.0))
    assert found.queue_s == pytest.approx(17, abs=0.5)


def flat(t_s: Floats, rtt_ms: Floats, delivered_bytes: Floats | None = None) -> Download:
    acked = np.arange(1, t_s.size + 1, dtype=float) * MSS
    delivered = acked if delivered_bytes is None else delivered_bytes
    return Download("flat", t_s, acked, acked, rtt_ms, delivered, np.zeros(t_s.size), MSS, None)


def test_the_middle_of_a_band_is_the_median_and_its_edges_leave_out_a_tenth() -> None:
    t_s = np.arange(0.5, 4, 0.05)
    one = bands([flat(t_s, np.full(t_s.size, rtt_ms)) for rtt_ms in (100.0, 200.0, 400.0)])["rtt_ms"]
    at = int(np.searchsorted(one.t_s, 2.0))
    assert one.middle[at] == pytest.approx(200)
    assert (one.low[at], one.high[at]) == pytest.approx((120, 360))


def test_a_round_trip_that_was_not_measured_is_between_its_neighbours() -> None:
    t_s = np.arange(0.1, 20, 0.1)
    rtt_ms = np.where(t_s < 4.0, 600.0, 900.0)
    with_gaps = np.where(np.arange(t_s.size) % 3 == 1, np.nan, rtt_ms)
    assert median_rtt_ms(flat(t_s, with_gaps)) == median_rtt_ms(flat(t_s, rtt_ms)) == pytest.approx(900)
    never = flat(t_s, np.full(t_s.size, np.nan))
    assert median_rtt_ms(never) is None
    assert cycle_hz(never) is None


def test_a_mark_is_when_the_segment_of_its_number_was_acknowledged() -> None:
    t_s = np.arange(0.5, 12, 0.005)
    one = flat(t_s, np.full(t_s.size, 600.0))
    assert acked_after_s(one, t_s.size + 1) is None
    (row,) = marks([one]).to_dicts()
    for segments in (50, 200, 500, 1000, 2000):
        assert acked_after_s(one, segments) == pytest.approx(t_s[segments - 1])
        (name,) = [name for name in row if str(segments) in name.replace("_", " ").split()]
        assert row[name] == pytest.approx(t_s[segments - 1])


SEGMENT_BYTES = 1448


def log(**columns: list[float | None]) -> Recording:
    """A log of ACKs, one each 100 ms, with a round trip of 200 ms."""
    rows = len(columns["acked_bytes"])
    given: dict[str, Any] = {"t_s": [number / 10 for number in range(rows)], "rtt_ms": [200.0] * rows}
    counted = [pl.col(name).cast(DTYPES[name]) for name in columns]
    frame = pl.DataFrame(given | columns).with_columns(*counted, mss_bytes=pl.lit(SEGMENT_BYTES, DTYPES["mss_bytes"]))
    return Recording(frame, "series", None, "ack-log", "log", ())


def test_a_segment_is_in_flight_from_its_round_trip_before_its_ack() -> None:
    t_s = np.array([1.0, 1.1, 1.2, 1.3, 1.4])
    acked = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    flight = _inflight(t_s, acked, np.full(5, 200.0))
    # sent at 0.8, 0.9, 1.0, 1.1 and 1.2 s: at 1.1 s those of before it, 30 bytes, of which 20 were acknowledged
    assert np.array_equal(flight, [10.0, 10.0, 10.0, np.nan, np.nan], equal_nan=True)


def test_bytes_in_flight_are_never_below_zero_and_unknown_before_the_first_segment() -> None:
    flight = _inflight(np.array([0.1, 1.0, 1.1]), np.array([0.0, 10.0, 10.0]), np.array([np.nan, 200.0, np.nan]))
    assert np.isnan(flight[0])
    assert np.nanmin(flight, initial=0.0) >= 0.0


@pytest.mark.parametrize(
    ("column", "values", "loss_s"),
    [
        ("lost_pkts", [None, 0.0, 0.0, 2.0, 3.0], 0.3),
        ("retransmits_pkts", [None, None, 1.0, 1.0, 1.0], 0.2),
        ("lost_pkts", [0.0, 0.0, 0.0, 0.0, 0.0], None),
    ],
)
def test_a_recorded_sender_noticed_its_loss_at_the_first_row_that_counts_one(
    column: str, values: list[float | None], loss_s: float | None
) -> None:
    one = recorded(log(acked_bytes=[0.0, 1448.0, 2896.0, 4344.0, 5792.0], **{column: values}), "log")
    assert one.loss_s == loss_s
    assert one.t_s.tolist() == [0.1, 0.2, 0.3, 0.4]
    assert one.delivered_bytes.tolist() == one.acked_bytes.tolist() == [1448.0, 2896.0, 4344.0, 5792.0]
    assert one.mss_bytes == SEGMENT_BYTES


def test_columns_that_a_log_has_are_taken_as_they_are() -> None:
    acked: list[float | None] = [0.0, 1448.0, 2896.0]
    given: dict[str, list[float | None]] = {"inflight_bytes": [0.0, 7.0, 8.0], "delivered_bytes": [0.0, 9.0, 10.0]}
    one = recorded(log(acked_bytes=acked, **given), "log")
    assert (one.inflight_bytes.tolist(), one.delivered_bytes.tolist()) == ([7.0, 8.0], [9.0, 10.0])


def test_a_trial_has_its_flight_before_what_its_ack_releases_and_counts_no_loss_of_its_own(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    run = Stored.of(Run(store_run(tmp_path_factory.mktemp("results"), trials=1, senders=("cubic_plain",)))).run
    trial = run.trials[0]
    one = present(emulated(trial))
    sent_by_ack = trial.acks["snd_nxt_bytes"].to_numpy()[-one.t_s.size - 1 : -1].astype(float)
    assert np.allclose(one.inflight_bytes + one.acked_bytes, sent_by_ack - 1)
    assert np.isnan(one.lost_pkts).all()
    assert one.loss_s is None
    assert one.t_s[0] == pytest.approx(trial.acks["t_s"].to_numpy()[-one.t_s.size - 1] - one.start_s)
    assert (one.name, one.mss_bytes) == ("cubic_plain-001", SEGMENT_BYTES)
    trial.__dict__["retransmits"] = pl.DataFrame({"t_s": [1.5, 2.0, 1.0], "flow": [1, 1, 2]})
    assert emulated(trial).loss_s == pytest.approx(1.5 - one.start_s)  # type: ignore[union-attr]


@pytest.mark.parametrize(("lag", "expected"), [(1, -5 / 6), (2, 4 / 6), (3, -3 / 6)])
def test_what_swings_between_two_values_is_as_long_as_it_lasts_the_opposite_of_itself_one_later(
    lag: int, expected: float
) -> None:
    assert _correlation(np.array([1.0, 3.0] * 3), lag) == pytest.approx(expected)


def test_what_is_constant_or_short_has_no_correlation() -> None:
    assert np.isnan(_correlation(np.ones(9), 1))
    assert np.isnan(_correlation(np.array([1.0, 2.0, 3.0]), 2))
    assert not np.isnan(_correlation(np.array([1.0, 2.0, 4.0]), 1))


def download(inflight: list[float], acked: Floats, loss_s: float | None = None) -> Download:
    t_s = np.arange(1.0, len(inflight) + 1)
    flight, rtt_ms = np.array(inflight), np.full(t_s.size, 100.0)
    return Download("made", t_s, acked, flight, rtt_ms, acked, np.full(t_s.size, np.nan), SEGMENT_BYTES, loss_s)


def test_slow_start_ends_where_what_is_in_flight_falls_behind_for_good() -> None:
    acked = np.array([10.0, 20.0, 40.0, 80.0, 160.0])
    assert download([10, 15, 40, 60, 60], acked).slow_start_end_s == 3.0  # behind at 2 s only for a while
    assert download([10, 20, 40, 80, 160], acked).slow_start_end_s == 5.0  # never
    assert download([1, 1, 1, 1, 1], acked).slow_start_end_s == 5.0  # always: what is in flight is no measure
    assert download([10, 20, 40, 60, 60], acked, loss_s=2.5).slow_start_end_s == 2.5
    assert download([9, 18, 36, 72, 60], acked).slow_start_end_s == 4.0  # 90 % is slow start still


def test_a_value_holds_until_the_next_ack_and_none_before_the_first_or_after_the_last() -> None:
    one = download([1, 2, 3], np.array([10.0, 20.0, 30.0]))
    found = one.at(one.acked_bytes, np.array([0.9, 1.0, 1.9, 3.0, 3.1]))
    assert np.array_equal(found, [np.nan, 10.0, 10.0, 30.0, np.nan], equal_nan=True)
    assert one.ip_share == pytest.approx(1500 / 1448)
