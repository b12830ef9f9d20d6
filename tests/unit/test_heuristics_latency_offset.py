# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity by latency offset: the thesis's two steps, clocks and gaps."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.judge.rules import truth
from lab.judge.rules.latency_offset import capacity_s, filling, offsets
from lab.tables.link_capacity import LinkCapacity
from tests.slow_start_model import PACKETS, Path, download, packet

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
    assert capacity_s(series(*points), MIN_RTT_MS) == found_s


def test_the_smallest_offset_is_removed_and_half_the_minimum_rtt_is_a_sign_of_a_queue() -> None:
    assert offsets(arrivals(305, 300, 340))["offset_ms"].to_list() == pytest.approx([5, 0, 40])
    again = [packet(t_s, True, len_bytes=1448, tsval=tsval) for t_s, tsval in ((0.3, 1000), (2.3, 3000))]
    assert offsets(pl.DataFrame(again, schema=PACKETS))["offset_ms"].to_list() == pytest.approx([0, 0])
    assert offsets(pl.DataFrame([packet(0.3, True)], schema=PACKETS)).is_empty()  # pure ACKs have none
    shown = series((1.0, 0), (2.0, 300), (3.0, 100))
    assert filling(shown, MIN_RTT_MS, t_s=2.5)
    assert not filling(shown, MIN_RTT_MS, t_s=3.0)
    assert not filling(shown, MIN_RTT_MS, t_s=0.5)


@given(st.integers(0, 2**32 - 1))
def test_neither_clock_difference_nor_wrap_of_the_timestamp_matters(first_tsval: int) -> None:
    found = offsets(arrivals(300, 310, 900, 305, first_tsval=first_tsval))["offset_ms"].to_list()
    assert found == pytest.approx([0, 10, 600, 5])


def test_in_a_modelled_slow_start_the_rule_lags_the_true_capacity_by_less_than_three_rtts() -> None:
    path = Path(rate_mbps=8, base_rtt_ms=200, buffer_bytes=600_000)
    tables = download(path).tables()
    true_s = truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms))
    found_s = capacity_s(offsets(tables["packets"]), path.base_rtt_ms)
    assert true_s is not None
    assert found_s is not None
    assert true_s < found_s < true_s + 3 * path.base_rtt_ms / 1000
