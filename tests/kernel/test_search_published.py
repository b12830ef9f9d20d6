# SPDX-License-Identifier: GPL-2.0-or-later
"""search2 and search31 decide as the published code does, integer by integer; its habits are named one by one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_papers.search_replay import COMPARED, EXIT, FRACTION, SearchParams, replay_bins, version

from tests.published_search import MODELS, Check, checks
from tests.search_acks import BIN_US, RTT_US, Acks, decide_as, one_ack_a_bin, rough_acks, slow_start

published = pytest.mark.parametrize("name", MODELS)
UNHURRIED = settings(deadline=None, max_examples=400)


def core_checks(library: Path, name: str, acks: Acks, limited: Any = None, **changes: int) -> list[Check]:
    """What the core decides as a version, in the model's terms."""
    known = version(library, name)
    params = replace(known.params, **changes)
    bins = replay_bins(library, *acks, params, limited=limited, compact=known.compact, stop_at_exit=False)
    return [
        Check(int(row["ack"]), int(row["curr_delv_bytes"]), int(row["prev_delv_bytes"]), row["verdict"] == EXIT)
        if row["verdict"] in COMPARED
        else Check(int(row["ack"]))
        for row in bins
    ]


def model_checks(name: str, acks: Acks, limited: Any = None) -> list[Check]:
    reported = (acks.t_us, acks.rtt_us, acks.delivered_bytes) if limited is None else (*acks, limited)
    return list(checks(MODELS[name](), zip(*(column.tolist() for column in reported), strict=True)))


STEPS_US = st.one_of(st.integers(0, 50), st.integers(0, 2_000), st.just(BIN_US), st.just(1_000_000))
RTTS_US = st.one_of(st.integers(-1, 6_000), st.integers(900, 1_100), st.sampled_from([350, 700, 1050, 5250, 9100]))
BYTES = st.one_of(st.just(0), st.just(1448), st.integers(0, 10**7))
ROUGH = rough_acks(STEPS_US, RTTS_US, BYTES, st.integers(3, 1_000))  # below 3 us theirs divides by 0


@st.composite
def downloads(draw: st.DrawFn) -> Acks:
    """A slow start that meets a plateau, whose queue lengthens the RTT, with jitter and ACKs of whole segments."""
    rtt_us, spacing = draw(st.integers(3_000, 900_000)), draw(st.floats(0.004, 0.3))
    acks = slow_start(rtt_us, rounds=16, spacing=spacing, capacity_round=draw(st.floats(4, 12)))
    longer = 1 + draw(st.floats(0, 12)) * np.maximum(np.linspace(-1, 1, len(acks.t_us)), 0)
    jitter = np.resize(draw(st.lists(st.floats(0.9, 1.4), min_size=1, max_size=30)), len(acks.t_us))
    rtts_us = np.maximum(rtt_us * longer * jitter, 3).astype(np.int32)
    segments = acks.delivered_bytes // np.uint64(1448) * np.uint64(1448)
    return Acks(acks.t_us, rtts_us, segments)


@published
@UNHURRIED
@given(acks=ROUGH)
def test_every_decision_on_a_rough_stream_is_the_published_one(search_library: Path, name: str, acks: Acks) -> None:
    assert core_checks(search_library, name, acks) == model_checks(name, acks)


@published
@UNHURRIED
@given(acks=downloads())
def test_every_decision_on_a_download_is_the_published_one(search_library: Path, name: str, acks: Acks) -> None:
    assert core_checks(search_library, name, acks) == model_checks(name, acks)


@UNHURRIED
@given(acks=downloads(), at=st.floats(0, 1))
def test_a_pause_of_the_application_resets_31_as_published(search_library: Path, acks: Acks, at: float) -> None:
    limited = np.arange(len(acks.t_us)) == int(at * (len(acks.t_us) - 1))
    assert core_checks(search_library, "search31", acks, limited) == model_checks("search31", acks, limited)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("search2", {"interpolation": 0}),
        ("search2", {"interpolation": FRACTION}),
        ("search2", {"skip_equal": 0}),
        ("search2", {"unchecked": 0}),
        ("search2", {"history": 0}),
        ("search2", {"end_closes": 1}),
        ("search31", {"interpolation": FRACTION}),
        ("search31", {"history": 0}),
        ("search31", {"end_closes": 0}),
    ],
)
def test_another_rounding_or_a_lost_habit_is_noticed(search_library: Path, name: str, changes: dict[str, int]) -> None:
    streams = [one_ack_a_bin([100 + k % 7 for k in range(60)], rtt) for rtt in (100, 1100, 5300, 9200)]
    streams += [one_ack_a_bin([100] * 60), on_boundaries(), slow_start(100_000, 14, 0.0713, capacity_round=8)]
    assert any(core_checks(search_library, name, acks, **changes) != model_checks(name, acks) for acks in streams)


def on_boundaries() -> Acks:
    """An ACK exactly at each bin's end."""
    count = np.arange(60, dtype=np.uint64)
    return Acks(count * np.uint64(BIN_US), np.full(60, RTT_US, np.int32), count * count * np.uint64(100))


def last(library: Path, name: str, acks: Acks, **options: Any) -> Any:
    return decide_as(library, name, acks, **options)[-1]


def test_search2_rounds_its_look_back_up_to_the_bins_that_had_ended(search_library: Path) -> None:
    acks = one_ack_a_bin([100] * 26 + [800] + [100] * 3, last_rtt_us=3 * BIN_US + 2)
    assert last(search_library, "search2", acks)["prev_delv_bytes"] == 1000  # the bin of 800 had not ended
    late = acks._replace(t_us=acks.t_us.copy())
    late.t_us[-1] += np.uint64(1)  # two microseconds late, two microseconds beyond three bins
    assert last(search_library, "search2", late)["prev_delv_bytes"] == 1700


def test_search2_skips_a_check_where_both_neighbours_are_equal(search_library: Path) -> None:
    acks = one_ack_a_bin([100] * 40, last_rtt_us=2 * BIN_US + 10)
    assert last(search_library, "search2", acks)["verdict"] not in COMPARED
    assert last(search_library, "search2_printed", acks)["verdict"] == EXIT


@pytest.mark.parametrize(("rtt_bins", "compares"), [(14, True), (15, True), (16, False), (25, False), (26, True)])
def test_search2_compares_beyond_25_bins_again(search_library: Path, rtt_bins: int, compares: bool) -> None:
    acks = one_ack_a_bin([100 + k for k in range(60)], last_rtt_us=rtt_bins * BIN_US)
    row = last(search_library, "search2", acks)
    assert (row["verdict"] in COMPARED) is compares
    if rtt_bins == 26:
        assert row["verdict"] == EXIT  # growth of 1 % a bin, read as a plateau


def test_search2_takes_a_window_for_its_own_predecessor(search_library: Path) -> None:
    acks = one_ack_a_bin([1000 * 2 ** (k // 2) for k in range(30)], last_rtt_us=1)
    assert last(search_library, "search2", acks)["verdict"] == EXIT
    assert last(search_library, "search2", acks, unchecked=0)["verdict"] not in COMPARED


def test_search2_counts_the_first_ack_s_own_bytes(search_library: Path) -> None:
    acks = one_ack_a_bin([100] * 13)
    moved = acks._replace(delivered_bytes=acks.delivered_bytes + np.uint64(5000))
    assert last(search_library, "search2", moved)["verdict"] == EXIT
    assert [int(last(search_library, name, moved)["prev_delv_bytes"]) for name in ("search2", "search2_printed")] == [
        6000,
        1000,
    ]


def test_search31_truncates_to_whole_percents_and_takes_the_history_for_a_bin(search_library: Path) -> None:
    growing = [1000 * 2 ** (k // 3) for k in range(20)]
    acks = one_ack_a_bin([10**6] * 100 + growing)
    after = decide_as(search_library, "search31", acks, reset=np.arange(len(acks.t_us)) == 100)
    assert EXIT in after[after["ack"] > 100]["verdict"]
    acks = one_ack_a_bin([100] * 26 + [700] + [100] * 3, last_rtt_us=3 * BIN_US + 5)  # 5 of 350 us: 1.43 percent
    assert last(search_library, "search31", acks)["prev_delv_bytes"] == 900 + 1 + 700 * 99 // 100
    assert last(search_library, "search2_printed", acks)["prev_delv_bytes"] == 900 + (100 * 5 + 700 * 345) // 350
    assert version(search_library, "search2_printed").params == SearchParams()
