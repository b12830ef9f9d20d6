# SPDX-License-Identifier: GPL-2.0-or-later
"""What sums a download up, on downloads whose answer is known: bytes in flight, correlation, when slow start ended."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.recorded import rate
from lab_papers.evaluation.recorded.download import Download, Floats, _inflight, emulated, recorded

from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from lab.traces.columns import DTYPES
from lab.traces.recording import Recording
from tests.stored_run import store_run

MSS = 1448


def log(**columns: list[float | None]) -> Recording:
    """A log of ACKs, one each 100 ms, with a round trip of 200 ms."""
    rows = len(columns["acked_bytes"])
    given: dict[str, Any] = {"t_s": [number / 10 for number in range(rows)], "rtt_ms": [200.0] * rows}
    counted = [pl.col(name).cast(DTYPES[name]) for name in columns]
    frame = pl.DataFrame(given | columns).with_columns(*counted, mss_bytes=pl.lit(MSS, DTYPES["mss_bytes"]))
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
    assert one.mss_bytes == MSS


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
    one = emulated(trial)
    assert one is not None
    sent_by_ack = trial.acks["snd_nxt_bytes"].to_numpy()[-one.t_s.size - 1 : -1].astype(float)
    assert np.allclose(one.inflight_bytes + one.acked_bytes, sent_by_ack - 1)
    assert np.isnan(one.lost_pkts).all()
    assert one.loss_s is None
    assert one.t_s[0] == pytest.approx(trial.acks["t_s"].to_numpy()[-one.t_s.size - 1] - one.start_s)
    assert (one.name, one.mss_bytes) == ("cubic_plain-001", MSS)
    trial.__dict__["retransmits"] = pl.DataFrame({"t_s": [1.5, 2.0, 1.0], "flow": [1, 1, 2]})
    assert emulated(trial).loss_s == pytest.approx(1.5 - one.start_s)  # type: ignore[union-attr]


@pytest.mark.parametrize(("lag", "expected"), [(1, -5 / 6), (2, 4 / 6), (3, -3 / 6)])
def test_what_swings_between_two_values_is_as_long_as_it_lasts_the_opposite_of_itself_one_later(
    lag: int, expected: float
) -> None:
    assert rate._correlation(np.array([1.0, 3.0] * 3), lag) == pytest.approx(expected)


def test_what_is_constant_or_short_has_no_correlation() -> None:
    assert np.isnan(rate._correlation(np.ones(9), 1))
    assert np.isnan(rate._correlation(np.array([1.0, 2.0, 3.0]), 2))
    assert not np.isnan(rate._correlation(np.array([1.0, 2.0, 4.0]), 1))


def download(inflight: list[float], acked: Floats, loss_s: float | None = None) -> Download:
    t_s = np.arange(1.0, len(inflight) + 1)
    flight, rtt_ms = np.array(inflight), np.full(t_s.size, 100.0)
    return Download("made", t_s, acked, flight, rtt_ms, acked, np.full(t_s.size, np.nan), MSS, loss_s)


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


def test_a_download_has_its_marks_in_segments() -> None:
    one = download([1, 2, 3], MSS * np.array([49.0, 50.0, 51.0]))
    assert [rate.acked_after_s(one, count) for count in (50, 51, 52)] == [2.0, 3.0, None]
    assert one.ip_share == pytest.approx(1500 / 1448)
