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


def test_the_thesis_example_traces_back_from_1200_ms_to_300_ms() -> None:
    shown = series((9.0, 40), (10.5, 299), (10.6, 301), (12.0, 1201), (25.0, 2500))
    assert capacity_s(shown, MIN_RTT_MS) == 10.5


def test_a_dip_below_half_after_the_link_was_seen_full_does_not_move_the_answer() -> None:
    shown = series((10.0, 100), (12.0, 1300), (13.0, 50), (14.0, 1300))
    assert capacity_s(shown, MIN_RTT_MS) == 10.0


def test_a_segment_of_the_instant_at_which_the_link_was_seen_full_does_not_count() -> None:
    assert capacity_s(series((10.0, 100), (12.0, 200), (12.0, 1300)), MIN_RTT_MS) == 10.0


def test_exactly_twice_the_minimum_rtt_is_not_yet_above_it() -> None:
    assert capacity_s(series((1.0, 0), (2.0, 1200)), MIN_RTT_MS) is None


def test_a_buffer_too_shallow_for_twice_the_minimum_rtt_never_shows_the_capacity() -> None:
    assert capacity_s(series((1.0, 0), (2.0, 1100), (3.0, 1150)), MIN_RTT_MS) is None


def test_an_offset_that_is_high_from_the_start_has_nowhere_to_go_back_to() -> None:
    assert capacity_s(series((1.0, 400), (2.0, 1300), (3.0, 0)), MIN_RTT_MS) is None


def test_the_smallest_offset_is_removed() -> None:
    assert offsets(arrivals(305, 300, 340))["offset_ms"].to_list() == pytest.approx([5, 0, 40])


@given(st.integers(0, 2**32 - 1))
def test_neither_clock_difference_nor_wrap_of_the_timestamp_matters(first_tsval: int) -> None:
    found = offsets(arrivals(300, 310, 900, 305, first_tsval=first_tsval))["offset_ms"].to_list()
    assert found == pytest.approx([0, 10, 600, 5])


def test_a_retransmission_counts_by_its_own_timestamp() -> None:
    first, again = (packet(0.3, True, len_bytes=1448, tsval=1000), packet(2.3, True, len_bytes=1448, tsval=3000))
    assert offsets(pl.DataFrame([first, again], schema=PACKETS))["offset_ms"].to_list() == pytest.approx([0, 0])


def test_pure_acks_from_the_server_have_no_offset() -> None:
    assert offsets(pl.DataFrame([packet(0.3, True)], schema=PACKETS)).is_empty()


def test_half_the_minimum_rtt_at_the_exit_is_a_sign_of_a_queue() -> None:
    shown = series((1.0, 0), (2.0, 300), (3.0, 100))
    assert filling(shown, MIN_RTT_MS, t_s=2.5)
    assert not filling(shown, MIN_RTT_MS, t_s=3.0)
    assert not filling(shown, MIN_RTT_MS, t_s=0.5)


def test_in_a_modelled_slow_start_the_rule_lags_the_true_capacity_by_less_than_three_rtts() -> None:
    path = Path(rate_mbps=8, base_rtt_ms=200, buffer_bytes=600_000)
    tables = download(path).tables()
    true_s = truth.capacity_s(tables["qdisc"], LinkCapacity.constant(path.rate_mbps, path.base_rtt_ms))
    found_s = capacity_s(offsets(tables["packets"]), path.base_rtt_ms)
    assert true_s is not None
    assert found_s is not None
    assert true_s < found_s < true_s + 3 * path.base_rtt_ms / 1000
