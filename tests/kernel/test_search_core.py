# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH 2.0 as printed: its closed form, and what Algorithm 1 leaves open (test_search_versions.py: every version)."""

from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_papers.search_replay import EXIT, NO_PREVIOUS, RTT_TOO_LONG, STAY, TOO_FEW_BINS, SearchParams

from tests.search_acks import BIN_US, DECISION, RTT_US, Acks, compared, decide, one_ack_a_bin, slow_start

UNHURRIED = settings(deadline=None)  # a busy machine is no failure


@UNHURRIED
@given(rtt_us=st.integers(2_000, 2_000_000), pattern=st.lists(st.floats(0, 0.999), min_size=1, max_size=40).map(sorted))
def test_never_exits_while_rounds_of_any_kind_double(search_library: Path, rtt_us: int, pattern: list[float]) -> None:
    times = np.add.outer(np.arange(12), pattern).ravel() * rtt_us
    sizes = np.multiply.outer(14_480 * 2 ** np.arange(12), np.ones(len(pattern), dtype=int)).ravel()
    rtts = np.full(len(times), rtt_us, dtype=np.int32)
    acks = Acks(times.astype(np.uint64), rtts, np.cumsum(sizes).astype(np.uint64))
    assert EXIT not in decide(search_library, acks)["verdict"]


def window_bytes(end: float, window: float, capacity: float) -> float:
    """Equations 4.1 to 4.3: the area under min(2^x, 2^capacity), each window with its own case."""
    start = end - window
    growing = max(0.0, 2 ** min(end, capacity) - 2 ** min(start, capacity)) / log(2)
    return growing + 2**capacity * (max(end, capacity) - max(start, capacity))


def figure_4_9(r: float, window: float, capacity: float) -> float:
    expected = 2 * window_bytes(r - 1, window, capacity)
    return 1 - window_bytes(r, window, capacity) / expected


@pytest.mark.parametrize("window_tenths", [20, 35, 50])
def test_normalized_difference_follows_figure_4_9(search_library: Path, window_tenths: int) -> None:
    rtt_us, spacing, capacity, window = 100_000, 0.001, 10.0, window_tenths / 10
    acks = slow_start(rtt_us, rounds=18, spacing=spacing, capacity_round=capacity)
    bins = compared(decide(search_library, acks, SearchParams(window_factor_tenths=window_tenths)))
    rounds = acks.t_us[bins["ack"]] / rtt_us
    closed_form = np.array([figure_4_9(r, window, capacity) for r in rounds])
    # A bin, evenly filled in the interpolation, holds exponential growth: (ln 2 * bin)^2 / 8 of the sum.
    # ACKs close bins up to one spacing late. norm is rounded down to thousandths.
    tolerance = (log(2) * window / 10) ** 2 / 8 + log(2) * spacing + 0.001
    assert len(rounds) > 20
    assert rounds.max() - capacity > 7
    assert np.abs(bins["norm_permille"] / 1000 - closed_form).max() < tolerance


@pytest.mark.parametrize("wrap", [2**32, 2**64])
def test_a_wrap_of_clock_and_byte_count_in_mid_flow_changes_nothing(search_library: Path, wrap: int) -> None:
    acks = slow_start(10_000, rounds=12, spacing=0.02, capacity_round=8)
    middle = len(acks.t_us) // 2
    moved = acks._replace(
        t_us=acks.t_us + np.uint64(wrap - int(acks.t_us[middle])),
        delivered_bytes=acks.delivered_bytes + np.uint64(wrap - int(acks.delivered_bytes[middle])),
    )
    assert (decide(search_library, acks)[DECISION] == decide(search_library, moved)[DECISION]).all()


@pytest.mark.parametrize(
    ("gap_bins", "prev"), [(1, 1_857_857), (2, 857_857), (5, 714), (10, 714), (26, 714), (1000, 714)]
)
def test_a_gap_makes_no_bin_of_before_it_come_back(search_library: Path, gap_bins: int, prev: int) -> None:
    acks = one_ack_a_bin([10**6] * 30 + [0] * gap_bins + [100] * 10)
    last = decide(search_library, acks.without(slice(31, 31 + gap_bins)))[-1]
    # one RTT (2 bins and 300 us) ago: 1/7 of a bin of 100, the 7 before it, then what the gap left
    assert (last["bin"], last["curr_delv_bytes"], last["prev_delv_bytes"]) == (39 + gap_bins, 1000, prev)


def test_a_gap_of_more_bins_than_a_u32_counts_clears_the_ring_too(search_library: Path) -> None:
    acks = one_ack_a_bin([100] * 30)
    acks.t_us[20:] += np.uint64(2**32 * BIN_US)  # 17 days
    bins = decide(search_library, acks)
    assert bins[-1]["bin"] == 29 + 2**32
    assert bins[19]["verdict"] == NO_PREVIOUS


@UNHURRIED
@given(at=st.integers(1, 250), capacity=st.floats(6, 12))
def test_after_a_reset_decisions_are_those_of_a_new_flow(search_library: Path, at: int, capacity: float) -> None:
    acks = slow_start(10_000, rounds=15, spacing=0.05, capacity_round=capacity)
    reset = np.arange(len(acks.t_us)) == at
    again = decide(search_library, acks, reset=reset)
    again = again[again["ack"] >= at]
    restarted = decide(search_library, acks.only(slice(at, None)))
    restarted["ack"] += np.uint64(at)
    assert (again == restarted).all()


def test_what_came_before_the_start_or_on_a_boundary_is_in_no_bin(search_library: Path) -> None:
    acks = one_ack_a_bin([100] * 13)
    history = acks._replace(delivered_bytes=acks.delivered_bytes + np.uint64(10**9))
    bins = decide(search_library, history)
    assert list(bins["verdict"][-2:]) == [TOO_FEW_BINS, EXIT]
    assert bins[-1]["prev_delv_bytes"] == 1000
    t_us = np.array([0, BIN_US, BIN_US + 1], dtype=np.uint64)
    bins = decide(search_library, Acks(t_us, np.full(3, RTT_US, np.int32), t_us))
    assert list(bins["ack"]) == [2]


def test_interpolation_moves_the_earlier_window_into_the_past_by_whole_bins_too(search_library: Path) -> None:
    sizes = [2**k for k in range(30)]
    last = decide(search_library, one_ack_a_bin(sizes, last_rtt_us=3 * BIN_US + 70))[-1]
    # 3.2 bins back from bin 29: 0.2 of bin 16, bins 17 to 25, 0.8 of bin 26
    assert last["prev_delv_bytes"] == sizes[16] * 70 // 350 + sum(sizes[17:26]) + sizes[26] * 280 // 350
    sizes = [2**k for k in range(30)]
    last = decide(search_library, one_ack_a_bin(sizes, last_rtt_us=3 * BIN_US))[-1]
    assert last["prev_delv_bytes"] == sum(sizes[17:27])


def test_a_look_back_too_far_or_to_nothing_abstains_and_more_than_doubling_is_negative(search_library: Path) -> None:
    bins = decide(search_library, one_ack_a_bin([700] * 10_000, last_rtt_us=1000 * BIN_US))
    assert bins[-1]["verdict"] == RTT_TOO_LONG
    verdicts = decide(search_library, one_ack_a_bin([700] * 14))["verdict"]
    assert list(verdicts) == [TOO_FEW_BINS] * 12 + [EXIT] * 2
    bins = decide(search_library, one_ack_a_bin([0] * 20))
    assert set(bins["verdict"]) == {TOO_FEW_BINS, NO_PREVIOUS}
    last = decide(search_library, one_ack_a_bin([30] * 20 + [3001, 3000]))[-1]
    assert (last["prev_delv_bytes"], last["curr_delv_bytes"], last["verdict"]) == (300, 6241, STAY)
    assert last["norm_permille"] == -9_402  # of -9401.7: rounded down, not to zero


@pytest.mark.parametrize(("curr", "verdict", "permille"), [(1300, EXIT, 350), (1301, STAY, 349)])
def test_the_threshold_is_reached_at_35_percent(search_library: Path, curr: int, verdict: int, permille: int) -> None:
    sizes = [100] * 20 + [100, 100, curr - 900]  # the last two bins back, where prev ends, hold 100
    last = decide(search_library, one_ack_a_bin(sizes, last_rtt_us=2 * BIN_US))[-1]
    assert (last["prev_delv_bytes"], last["curr_delv_bytes"]) == (1000, curr)
    assert (last["verdict"], last["norm_permille"]) == (verdict, permille)
