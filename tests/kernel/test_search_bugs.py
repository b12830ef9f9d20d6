# SPDX-License-Identifier: GPL-2.0-or-later
"""No version but the published code has the bugs of SEARCH's public forms; each test names the one it would fail on.

Sent-based versions are given that twice the delivered bytes were sent, so that one stream serves all.
"""

from pathlib import Path

import numpy as np
import pytest
from lab_papers.search_replay import EXIT, RTT_TOO_LONG, STAY, exit_pkts

from tests.search_acks import BIN_US, RTT_US, SOUND, Acks, Bins, decide_as, known, one_ack_a_bin, slow_start

every_version = pytest.mark.parametrize("name", SOUND)
interpolating = pytest.mark.parametrize("name", [name for name in SOUND if name != "search1"])
MSS = 1448


def rescaled(row: Bins) -> int:
    """Half of what was expected: the earlier window's delivered bytes, whatever the version counted."""
    return int(row["expected_bytes"]) // 2


@every_version
def test_missed_bins_leave_the_newest_full_bin_alone(search_library: Path, name: str) -> None:
    """Draft -00: the loop that clears missed bins began at the newest full one, and at index -1 in the first."""
    last = decide_as(search_library, name, one_ack_a_bin([100] * 20).without(18))[-1]
    assert last["curr_delv_bytes"] == 1000


@interpolating
def test_equal_bins_at_both_ends_are_no_reason_to_skip_the_check(search_library: Path, name: str) -> None:
    """2.0 and 2.5: interpolation between equal neighbours returned 0, and no decision was made."""
    last = decide_as(search_library, name, one_ack_a_bin([100] * 40, last_rtt_us=2 * BIN_US + 10))[-1]
    assert last["verdict"] == EXIT


@every_version
@pytest.mark.parametrize("gap_bins", [1, 5, 9])
def test_missed_bins_are_empty(search_library: Path, name: str, gap_bins: int) -> None:
    """3.0: memset() of a count wrote one byte of it all over the missed bins."""
    acks = one_ack_a_bin([1000] * 80 + [0] * gap_bins + [50]).without(slice(81, 81 + gap_bins))
    assert decide_as(search_library, name, acks)[-1]["curr_delv_bytes"] == (9 - gap_bins) * 1000 + 50


@every_version
@pytest.mark.parametrize("rtt_us", [350, 500, 1000, 1400, 3000, 4549])
@pytest.mark.parametrize("bins", [30, 49, 50, 51, 77])
def test_windows_are_whole_wherever_the_ring_turns(search_library: Path, name: str, bins: int, rtt_us: int) -> None:
    """Algorithm 1 and drafts -00 to -02: sum_bins() read bin[idx1], bin[idx2] and bin[curr_idx] without modulo."""
    last = decide_as(search_library, name, one_ack_a_bin([700] * bins, rtt_us), restart_rtt_pct=0)[-1]
    assert (last["curr_delv_bytes"], rescaled(last)) == (7000, 7000)


@interpolating
def test_interpolation_weighs_by_the_fraction_and_moves_the_window_back(search_library: Path, name: str) -> None:
    """2.0, 2.5 and 3.0: the fraction was an integer quotient, 0 or 1; draft -00: a raw remainder."""
    acks = one_ack_a_bin([100] * 26 + [800] + [100] * 3, last_rtt_us=3 * BIN_US + BIN_US // 2)
    assert rescaled(decide_as(search_library, name, acks)[-1]) == 9 * 100 + 50 + 800 // 2
    # Draft -09: it interpolated towards the present.
    acks = one_ack_a_bin([100] * 27 + [10_000] + [100] * 2, last_rtt_us=3 * BIN_US + BIN_US // 2)
    assert rescaled(decide_as(search_library, name, acks)[-1]) == 1000


@pytest.mark.parametrize(
    ("name", "most_bins"), [("search1", 15), ("search2_printed", 14), ("packed", 13), ("search4", 38), ("search", 38)]
)
@pytest.mark.parametrize("bins", [60, 74, 75, 77])
def test_a_look_back_reads_no_overwritten_bin(search_library: Path, name: str, most_bins: int, bins: int) -> None:
    """Draft -02: 12 valid bins were required, but a look-back of 15 was allowed in a ring of 25."""

    def at(rtt_us: int) -> tuple[int, int]:
        acks = one_ack_a_bin([700] * (bins - 1) + [5000], rtt_us)
        last = decide_as(search_library, name, acks, long_rtt=0)[-1]
        return int(last["verdict"]), rescaled(last)

    # search1 takes the nearest bin, the others go on to the next one by fractions
    reach_us = most_bins * BIN_US + (BIN_US // 2 - 1 if name == "search1" else BIN_US)
    assert at(reach_us) == (STAY, 7000)
    assert at(reach_us + 1) == (RTT_TOO_LONG, 0)


@every_version
def test_bytes_from_before_a_start_or_a_reset_are_in_no_bin(search_library: Path, name: str) -> None:
    """2.5: the count began at 0, so that the first bin held the flow's history."""
    acks = one_ack_a_bin([1000 * 2 ** (k // 3) for k in range(40)])
    moved = acks._replace(delivered_bytes=acks.delivered_bytes + np.uint64(10**9))
    assert EXIT not in decide_as(search_library, name, moved)["verdict"]
    # 3.1 and 4.0: the first window after a reset in mid-flow took the whole count for its bytes, and SEARCH left.
    growing = [1000 * 2 ** (k // 3) for k in range(20)]
    acks = one_ack_a_bin([10**6] * 100 + growing)
    reset = np.arange(len(acks.t_us)) == 100
    after = decide_as(search_library, name, acks, reset=reset)
    assert EXIT not in after[after["ack"] > 100]["verdict"]


def test_a_roll_back_counts_bytes_and_not_scaled_units(search_library: Path) -> None:
    """3.1: it forgot the scale, and took back 2^s times too little once 64 KiB were acknowledged."""
    acks = slow_start(100_000, rounds=14, spacing=0.01, capacity_round=8)
    wide, packed = (
        int(decide_as(search_library, name, acks, stop_at_exit=True, on_exit=1)[-1]["last_two_rtt_bytes"])
        for name in ("search2_printed", "packed")
    )
    assert wide > 100 * 65536
    assert packed == pytest.approx(wide, rel=1e-3)


@every_version
@pytest.mark.parametrize("on_exit", [1, 2])
def test_no_exit_goes_below_the_least_window_or_above_its_own(search_library: Path, name: str, on_exit: int) -> None:
    """2.5: the roll-back had no floor, and wrapped; 2.0 and 3.0 kept cwnd where it would have."""
    params = known(search_library, name).params.__class__(on_exit=on_exit)
    row = decide_as(search_library, name, one_ack_a_bin([10 * MSS] * 30), on_exit=min(on_exit, 1))[-1]
    assert row["verdict"] == EXIT
    left_with = [exit_pkts(search_library, params, row, cwnd, MSS) for cwnd in (4, 20, 1000)]
    assert left_with == ([4, 10, 1000 - 50] if on_exit == 1 else [4, 20, 30])


@every_version
def test_an_old_clock_may_wrap_and_silence_costs_no_loops(search_library: Path, name: str) -> None:
    """3.1, 4.0 and drafts: times were compared as u32, so that SEARCH stalled or jumped every 71.6 minutes."""
    acks = slow_start(10_000, rounds=12, spacing=0.02, capacity_round=8)
    for at in (100, 300, 500):
        moved = acks._replace(t_us=acks.t_us + np.uint64(2**32 - int(acks.t_us[at])))
        assert (decide_as(search_library, name, moved) == decide_as(search_library, name, acks)).all()
    # 3.1 with its alpha off: one turn of a loop for each missed bin, of which there are 10^15 here.
    acks = one_ack_a_bin([100] * 30, last_rtt_us=1)
    acks.t_us[:] //= np.uint64(BIN_US)
    acks.rtt_us[:] = 1
    acks.t_us[20:] += np.uint64(10**15)
    assert decide_as(search_library, name, acks)[-1]["curr_delv_bytes"] <= 1000


@every_version
def test_more_delivered_than_expected_is_no_huge_difference(search_library: Path, name: str) -> None:
    """4.0's logging build: expected less delivered, unsigned, wrapped."""
    last = decide_as(search_library, name, one_ack_a_bin([30] * 40 + [3001, 3000]))[-1]
    assert (last["verdict"], last["norm_permille"] < -5000) == (STAY, True)


@every_version
def test_a_reset_allows_another_exit(search_library: Path, name: str) -> None:
    """2.x and 3.0: a latch of the first exit had to be cleared; 3.1 had none."""
    acks = one_ack_a_bin([100] * 60)
    bins = decide_as(search_library, name, acks, reset=np.arange(61) == 30)
    exits = bins["ack"][bins["verdict"] == EXIT]
    assert exits[0] < 30
    assert exits[exits > 30][0] - 30 <= exits[0] + 1  # its first bin ends just after an ACK


@every_version
@pytest.mark.parametrize("rtt_us", [1, 2])
def test_a_tiny_rtt_divides_by_no_zero(search_library: Path, name: str, rtt_us: int) -> None:
    """All but 4.0 on Linux: a bin of 0 us."""
    t_us = np.arange(40, dtype=np.uint64) * np.uint64(2)
    bins = decide_as(search_library, name, Acks(t_us, np.full(40, rtt_us, np.int32), t_us))
    assert set(bins["bin_us"]) == {1}
    assert bins[-1]["bin"] > 70 or name == "packed"


@every_version
def test_an_rtt_far_below_a_bin_makes_no_window_its_own_predecessor(search_library: Path, name: str) -> None:
    """With whole bins, as 2.0's quotient made them, a short RTT compared a window with itself: always an exit."""
    acks = one_ack_a_bin([1000 * 2 ** (k // 2) for k in range(30)], last_rtt_us=BIN_US // 3)
    bins = decide_as(search_library, name, acks, interpolation=0)
    assert bins[-1]["verdict"] not in (STAY, EXIT)
    assert RTT_US // BIN_US == 2
