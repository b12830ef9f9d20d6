# SPDX-License-Identifier: GPL-2.0-or-later
"""When the congestion window over the RTT reached a rate: the capacity time of the median throughput's rules."""

import polars as pl
import pytest

from lab.judge.window_rate import first_reached_s
from tests.slow_start_model import ACKS

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


def test_the_time_is_that_of_the_ack_after_which_the_window_reaches_the_rate() -> None:
    assert first_reached_s(doubling(), MSS_BYTES, 39.9 * SEGMENT_MBPS) == pytest.approx(0.02)


def test_a_rate_between_two_windows_is_reached_with_the_larger() -> None:
    assert first_reached_s(doubling(), MSS_BYTES, 41 * SEGMENT_MBPS) == pytest.approx(0.03)


def test_the_handshake_does_not_count_though_the_first_window_reaches_the_rate() -> None:
    assert first_reached_s(doubling(), MSS_BYTES, 5 * SEGMENT_MBPS) == pytest.approx(0.01)


def test_a_longer_rtt_makes_less_of_the_same_window() -> None:
    slower = probed((0.0, 10, 10, 0), (0.01, 100, 10, 10), (0.02, 100, 20, 20), (0.03, 100, 20, 30))
    assert first_reached_s(slower, MSS_BYTES, 100 * SEGMENT_MBPS) == pytest.approx(0.0)
    assert first_reached_s(slower, MSS_BYTES, 101 * SEGMENT_MBPS) is None


def test_a_window_that_never_reaches_the_rate_has_no_time() -> None:
    assert first_reached_s(doubling(), MSS_BYTES, 1e6) is None


def test_without_a_rate_there_is_no_time() -> None:
    assert first_reached_s(doubling(), MSS_BYTES, None) is None


def test_an_ack_of_the_first_byte_counts() -> None:
    first = [{"flow": 1, "t_s": t_s, "cwnd_pkts": 10, "srtt_ms": 10.0, "snd_una_bytes": una} for t_s, una in FIRST]
    assert first_reached_s(pl.DataFrame(first, schema=ACKS), MSS_BYTES, SEGMENT_MBPS) == pytest.approx(0.01)


def test_other_flows_do_not_count() -> None:
    assert first_reached_s(doubling(), MSS_BYTES, SEGMENT_MBPS, flow=2) is None
