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
    assert first_reached_s(doubling(), MSS_BYTES, rate_mbps) == (found_s and pytest.approx(found_s))
    assert first_reached_s(doubling(), MSS_BYTES, rate_mbps, flow=2) is None  # other flows do not count


def test_a_longer_rtt_makes_less_of_the_same_window_and_an_ack_of_the_first_byte_counts() -> None:
    slower = probed((0.0, 10, 10, 0), (0.01, 100, 10, 10), (0.02, 100, 20, 20), (0.03, 100, 20, 30))
    assert first_reached_s(slower, MSS_BYTES, 100 * SEGMENT_MBPS) == pytest.approx(0.0)
    assert first_reached_s(slower, MSS_BYTES, 101 * SEGMENT_MBPS) is None
    first = [{"flow": 1, "t_s": t_s, "cwnd_pkts": 10, "srtt_ms": 10.0, "snd_una_bytes": una} for t_s, una in FIRST]
    assert first_reached_s(pl.DataFrame(first, schema=ACKS), MSS_BYTES, SEGMENT_MBPS) == pytest.approx(0.01)
