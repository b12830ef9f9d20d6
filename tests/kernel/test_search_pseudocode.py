# SPDX-License-Identifier: GPL-2.0-or-later
"""What Algorithm 1 leaves open or has wrong, the core resolves as search_core.c states."""

from pathlib import Path

import numpy as np
import pytest

from lab.judge.search_replay import EXIT, NO_PREVIOUS, RTT_TOO_LONG, STAY, TOO_FEW_BINS
from tests.search_acks import BIN_US, RTT_US, Acks, decide, one_ack_a_bin


def test_missed_bins_are_empty_and_what_came_before_the_start_or_on_a_boundary_is_in_none(search_library: Path) -> None:
    acks = one_ack_a_bin([100] * 20)
    assert decide(search_library, acks.without(18))[-1]["curr_delv_bytes"] == 1000
    acks = one_ack_a_bin([100] * 20 + [0, 0, 0, 50], last_rtt_us=RTT_US)
    assert decide(search_library, acks.without(slice(21, 24)))[-1]["curr_delv_bytes"] == 6 * 100 + 50
    acks = one_ack_a_bin([100] * 13)
    history = acks._replace(delivered_bytes=acks.delivered_bytes + np.uint64(10**9))
    bins = decide(search_library, history)
    assert list(bins["verdict"][-2:]) == [TOO_FEW_BINS, EXIT]
    assert bins[-1]["prev_delv_bytes"] == 1000
    t_us = np.array([0, BIN_US, BIN_US + 1], dtype=np.uint64)
    bins = decide(search_library, Acks(t_us, np.full(3, RTT_US, np.int32), t_us))
    assert list(bins["ack"]) == [2]


@pytest.mark.parametrize("rtt_us", [350, 500, 1000, 1400, 3000, 5249])
@pytest.mark.parametrize("bins", [30, 49, 50, 51, 77])
def test_even_delivery_gives_even_windows_wherever_the_ring_turns(search_library: Path, bins: int, rtt_us: int) -> None:
    last = decide(search_library, one_ack_a_bin([700] * bins, rtt_us))[-1]
    assert (last["curr_delv_bytes"], last["prev_delv_bytes"]) == (7000, 7000)


def test_interpolation_moves_the_earlier_window_into_the_past_by_whole_bins_too(search_library: Path) -> None:
    sizes = [2**k for k in range(30)]
    last = decide(search_library, one_ack_a_bin(sizes, last_rtt_us=3 * BIN_US + 70))[-1]
    # 3.2 bins back from bin 29: 0.2 of bin 16, bins 17 to 25, 0.8 of bin 26
    assert last["prev_delv_bytes"] == sizes[16] * 70 // 350 + sum(sizes[17:26]) + sizes[26] * 280 // 350
    sizes = [2**k for k in range(30)]
    last = decide(search_library, one_ack_a_bin(sizes, last_rtt_us=3 * BIN_US))[-1]
    assert last["prev_delv_bytes"] == sum(sizes[17:27])


@pytest.mark.parametrize(
    ("back_us", "verdict"),
    [(14 * BIN_US, STAY), (15 * BIN_US - 1, STAY), (15 * BIN_US, STAY), (15 * BIN_US + 1, RTT_TOO_LONG)],
)
@pytest.mark.parametrize("bins", [26, 49, 50, 60])
def test_a_look_back_longer_than_the_ring_abstains(search_library: Path, bins: int, back_us: int, verdict: int) -> None:
    # The newest bin differs: read in place of the one it overwrote, it would show.
    last = decide(search_library, one_ack_a_bin([700] * (bins - 1) + [5000], back_us))[-1]
    assert last["verdict"] == verdict
    assert last["prev_delv_bytes"] == (7000 if verdict == STAY else 0)


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


@pytest.mark.parametrize("rtt_us", [1, 2])
def test_a_tiny_rtt_makes_bins_of_one_microsecond(search_library: Path, rtt_us: int) -> None:
    t_us = np.arange(40, dtype=np.uint64) * np.uint64(2)
    bins = decide(search_library, Acks(t_us, np.full(40, rtt_us, np.int32), t_us))
    assert set(bins["bin_us"]) == {1}
    assert bins[-1]["bin"] > 70


@pytest.mark.parametrize(("curr", "verdict", "permille"), [(1300, EXIT, 350), (1301, STAY, 349)])
def test_the_threshold_is_reached_at_35_percent(search_library: Path, curr: int, verdict: int, permille: int) -> None:
    sizes = [100] * 20 + [100, 100, curr - 900]  # the last two bins back, where prev ends, hold 100
    last = decide(search_library, one_ack_a_bin(sizes, last_rtt_us=2 * BIN_US))[-1]
    assert (last["prev_delv_bytes"], last["curr_delv_bytes"]) == (1000, curr)
    assert (last["verdict"], last["norm_permille"]) == (verdict, permille)
