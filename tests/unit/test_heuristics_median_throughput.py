# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity by median throughput: the intervals, both medians, and the bitrate at the exit."""

import polars as pl
import pytest

from lab.judge.median_throughput import exit_bitrate_mbps, median_after_mbps, throughput
from lab.judge.rules.median_throughput_1s import median_first_second_mbps
from tests.slow_start_model import PACKETS, packet

PER_SEGMENT_MBPS = 1448 * 8 / 0.015 / 1e6


def arrivals(*times_s: float) -> pl.DataFrame:
    return pl.DataFrame([packet(t_s, True, len_bytes=1448) for t_s in times_s], schema=PACKETS)


def intervals(*rates_mbps: float) -> pl.DataFrame:
    rows = [(0.015 * n, 0.015 * (n + 1), rate) for n, rate in enumerate(rates_mbps)]
    return pl.DataFrame(rows, schema=["begin_s", "end_s", "throughput_mbps"], orient="row")


def test_payload_is_counted_in_whole_intervals_of_15_ms() -> None:
    counted = throughput(arrivals(0.001, 0.014, 0.031, 0.1))
    assert counted["throughput_mbps"].to_list() == pytest.approx([2 * PER_SEGMENT_MBPS, 0, PER_SEGMENT_MBPS, 0, 0, 0])
    assert counted["begin_s"].to_list() == pytest.approx([0.015 * n for n in range(6)])
    assert counted["end_s"].to_list() == pytest.approx([0.015 * n for n in range(1, 7)])
    assert throughput(arrivals(0.001, 0.016)).height == 1
    assert throughput(pl.DataFrame([packet(0.5, False), packet(0.6, True)], schema=PACKETS)).is_empty()


def test_the_medians_are_of_the_first_second_and_of_the_time_after_the_exit() -> None:
    assert median_first_second_mbps(intervals(*[10.0] * 66, *[90.0] * 200)) == 10
    satellite = intervals(*[0.0] * 50, *[8.0] * 16, *[120.0] * 1000)
    assert median_first_second_mbps(satellite) == 0
    assert median_after_mbps(intervals(1, 1, 1, 50, 60, 70), exit_s=0.04) == 60
    assert median_after_mbps(intervals(1, 2, 3), exit_s=None) is None  # never left slow start
    assert median_after_mbps(intervals(1, 2, 3), exit_s=5.0) is None  # nothing after the exit
    assert exit_bitrate_mbps(7500, 1448, 600) == pytest.approx(144.8)  # window over RTT
