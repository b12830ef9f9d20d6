# SPDX-License-Identifier: GPL-2.0-or-later
"""What SEARCH promises holds for every version, and the packed state of 3.1 decides as the unpacked one."""

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_papers.search_replay import (
    DRAIN,
    ENDED_BINS,
    EXIT,
    PERCENT,
    PERCENT_ONCE,
    SENT,
    TOWARDS_PRESENT,
    SearchParams,
    built_versions,
    replay_bins,
    version,
)

from lab.base.errors import UserError
from tests.search_acks import (
    ALL_VERSIONS,
    AT_26_PCT,
    DECISION,
    FORWARD,
    PACKED,
    RTT_US,
    SOUND,
    VERSIONS,
    Acks,
    compared,
    decide_as,
    one_ack_a_bin,
    rough_acks,
    slow_start,
)

every_version = pytest.mark.parametrize("name", [*VERSIONS, PACKED])
every_sound_version = pytest.mark.parametrize("name", SOUND)  # the published code counts a flow's history
UNHURRIED = settings(deadline=None, max_examples=50)  # a busy machine is no failure


@every_version
@UNHURRIED
@given(
    rtt_us=st.integers(2_000, 2_000_000),
    spacing=st.floats(0.005, 0.25),
    jitter=st.lists(st.floats(0.7, 4.0), min_size=5, max_size=50),
)
def test_never_exits_while_delivery_doubles_each_rtt(
    search_library: Path, name: str, rtt_us: int, spacing: float, jitter: list[float]
) -> None:
    # An RTT sample 30 % short and a bin closed 0.1 RTT late make norm 1 - 2^-0.4 = 0.24; 0.25 RTT late, 0.32.
    acks = slow_start(rtt_us, rounds=14, spacing=spacing * (0.4 if name in AT_26_PCT else 1))
    acks.rtt_us[1:] = (acks.rtt_us * np.resize(jitter, len(acks.rtt_us)))[1:]
    bins = decide_as(search_library, name, acks)
    assert len(compared(bins)) > 0
    assert EXIT not in bins["verdict"]


@every_version
@UNHURRIED
@given(rtt_us=st.integers(5_000, 2_000_000), capacity=st.floats(7, 12), spacing=st.floats(0.002, 0.05))
def test_exits_two_to_three_rtts_after_a_plateau_and_with_a_lower_threshold_sooner(
    search_library: Path, name: str, rtt_us: int, capacity: float, spacing: float
) -> None:
    acks = slow_start(rtt_us, rounds=20, spacing=spacing, capacity_round=capacity)
    bins = decide_as(search_library, name, acks, stop_at_exit=True)
    assert bins["verdict"][-1] == EXIT
    assert (1 if name in AT_26_PCT else 2) < acks.t_us[bins["ack"][-1]] / rtt_us - capacity < 3


@every_version
@UNHURRIED
@given(scale=st.integers(0, 12), capacity=st.floats(5, 9))
def test_scaling_bytes_changes_no_decision(search_library: Path, name: str, scale: int, capacity: float) -> None:
    # Powers of two, so that the packed counts keep their bits; a window between bins is rounded down to a byte.
    acks = slow_start(RTT_US, rounds=14, spacing=0.02, capacity_round=capacity)
    small = acks._replace(delivered_bytes=acks.delivered_bytes // np.uint64(10**6) * np.uint64(350 * 2**6))
    large = small._replace(delivered_bytes=small.delivered_bytes << np.uint64(scale))
    before, after = decide_as(search_library, name, small), decide_as(search_library, name, large)
    assert (before[["ack", "bin", "bin_us"]] == after[["ack", "bin", "bin_us"]]).all()
    assert np.abs(before["norm_permille"] - after["norm_permille"]).max() <= (name in ("search31", PACKED))


@every_version
@UNHURRIED
@given(scale=st.integers(1, 2000), capacity=st.floats(5, 9))
def test_scaling_time_and_rtt_gives_the_same_bins(search_library: Path, name: str, scale: int, capacity: float) -> None:
    fast = slow_start(RTT_US, rounds=14, spacing=0.02, capacity_round=capacity)
    slow = fast._replace(t_us=fast.t_us * np.uint64(scale), rtt_us=fast.rtt_us * np.int32(scale))
    assert (decide_as(search_library, name, fast)[DECISION] == decide_as(search_library, name, slow)[DECISION]).all()


@every_sound_version
@UNHURRIED
@given(clock=st.integers(0, 2**63), count=st.integers(0, 2**30), scale=st.integers(0, 30))
def test_the_origins_of_clock_and_byte_count_do_not_matter(
    search_library: Path, name: str, clock: int, count: int, scale: int
) -> None:
    acks = slow_start(10_000, rounds=12, spacing=0.02, capacity_round=8)
    origin = np.uint64(count << scale if name != PACKED else count << 16)  # whole units of the packed counts
    moved = acks._replace(t_us=acks.t_us + np.uint64(clock), delivered_bytes=acks.delivered_bytes + origin)
    assert (decide_as(search_library, name, acks)[DECISION] == decide_as(search_library, name, moved)[DECISION]).all()


@every_version
@pytest.mark.parametrize("gap_bins", [1, 5, 10, 26, 60, 1000])
def test_a_gap_in_the_acks_of_a_doubling_flow_is_no_exit(search_library: Path, name: str, gap_bins: int) -> None:
    acks = slow_start(10_000, rounds=14, spacing=0.05).without(slice(130, 130 + 7 * gap_bins))
    assert EXIT not in decide_as(search_library, name, acks)["verdict"]


ROUGH = rough_acks(st.integers(0, 2_000), st.integers(1, 6_000), st.integers(0, 10**7), st.integers(1, 1_000))


@settings(deadline=None, max_examples=300)
@given(acks=ROUGH, missed=st.integers(0, 12), long_rtt=st.integers(0, 3), restart=st.integers(0, 99))
def test_the_packed_state_decides_as_the_unpacked_one_but_for_its_units(
    search_library: Path, acks: Acks, missed: int, long_rtt: int, restart: int
) -> None:
    params = SearchParams(extra_bins=14, missed_bins_max=missed, long_rtt=long_rtt, restart_rtt_pct=restart)
    wide = replay_bins(search_library, *acks, params, stop_at_exit=False)
    packed = replay_bins(search_library, *acks, params, compact=True, stop_at_exit=False)
    assert (wide[["ack", "rtt_us", "bin_us"]] == packed[["ack", "rtt_us", "bin_us"]]).all()
    index = wide["bin"] < 50  # of which the packed state holds no more than 62
    assert (wide["bin"] == packed["bin"])[index].all()
    unit = max(1, 2 * int(acks.delivered_bytes[-1]) >> 15)  # of a ring that holds all there is
    both = np.isin(wide["verdict"], (7, 8)) & np.isin(packed["verdict"], (7, 8))
    for field in ("curr_delv_bytes", "prev_delv_bytes"):
        assert np.abs(wide[field].astype(np.int64) - packed[field].astype(np.int64))[both].max(initial=0) <= 2 * unit


def test_the_packed_state_counts_terabytes(search_library: Path) -> None:
    acks = one_ack_a_bin([10**9 * 2 ** (k // 3) for k in range(40)])  # up to 8 TB a bin
    wide, packed = (decide_as(search_library, name, acks) for name in ("search2_printed", PACKED))
    assert (wide["verdict"] == packed["verdict"]).all()
    assert int(packed["prev_delv_bytes"][-1]) == pytest.approx(int(wide["prev_delv_bytes"][-1]), rel=1e-4)


def test_each_version_is_its_publications_and_has_a_stanza_and_a_file(search_library: Path) -> None:
    known = {name: version(search_library, name) for name in VERSIONS}
    assert known["search2_printed"].params == SearchParams()
    assert known["search2"].params.interpolation == ENDED_BINS
    assert known["search31"].params.interpolation == PERCENT
    assert known["search4"].params.expected == SENT
    assert known["search4"].params.on_exit == DRAIN
    assert [name for name in VERSIONS if known[name].compact] == ["search31"]
    assert {v.params.threshold_pct for name, v in known.items() if name not in AT_26_PCT} == {35}
    assert known["search9"].params.interpolation == PERCENT_ONCE
    assert version(search_library, FORWARD).params == replace(known["search9"].params, interpolation=TOWARDS_PRESENT)
    assert sorted(built_versions(search_library)) == sorted(ALL_VERSIONS)


def test_an_unknown_version_and_one_without_its_sent_bytes_are_refused(search_library: Path) -> None:
    with pytest.raises(UserError, match="search5"):
        version(search_library, "search5")
    with pytest.raises(ValueError, match="sent_bytes"):
        replay_bins(search_library, [1], [1], [1], SearchParams(expected=SENT))


@pytest.mark.parametrize(
    "wrong", [{"extra_bins": 15}, {"expected": SENT}, {"on_exit": DRAIN}, {"history": 2}, {"again": 2}]
)
def test_what_the_packed_state_has_no_room_for_is_refused(search_library: Path, wrong: dict[str, int]) -> None:
    params = SearchParams(**({"extra_bins": 14} | wrong))
    with pytest.raises(UserError, match="must be within"):
        replay_bins(search_library, [1], [1], [1], params, sent_bytes=[1], compact=True)


def test_a_burst_of_sent_bytes_counts_as_slow_start_s_own(search_library: Path) -> None:
    """1.0 holds back what was sent beyond twice the delivered; 4.0 takes a burst for an unanswered plateau."""
    acks = one_ack_a_bin([100] * 60)
    sent = acks.delivered_bytes.copy()
    sent[20:] += np.uint64(50_000)
    held, counted = (
        decide_as(search_library, name, acks, sent_bytes=sent, threshold_pct=60) for name in ("search1", "search4")
    )
    assert EXIT in counted["verdict"]
    assert EXIT not in held["verdict"]


def test_the_vectors_that_the_kernel_checks_hold_here_too(search_library: Path) -> None:
    library = ctypes.CDLL(str(search_library))
    library.search_vector_that_fails.restype = ctypes.c_char_p
    assert library.search_vector_that_fails() is None


@pytest.mark.parametrize("factor", [3, 5])
def test_more_bytes_sent_than_twice_those_delivered_count_as_twice_them(search_library: Path, factor: int) -> None:
    acks = one_ack_a_bin([1000 * 2 ** (k // 3) for k in range(24)] + [256_000] * 30)
    twice, more = (
        decide_as(search_library, "search1", acks, sent_bytes=times * acks.delivered_bytes) for times in (2, factor)
    )
    assert len(compared(twice)) > 10
    assert (twice[DECISION] == more[DECISION]).all()
