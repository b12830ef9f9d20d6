# SPDX-License-Identifier: GPL-2.0-or-later
"""The replay: the core agrees with a plain reading of the thesis, and its table holds what was decided."""

from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_papers.search_replay import EXIT, NO_PREVIOUS, PRINTED, RTT_TOO_LONG, STAY, TOO_FEW_BINS, SearchParams, replay

from tests.search_acks import Acks, decide, rough_acks, slow_start

Decision = tuple[int, ...]  # bin, verdict, curr, prev, norm in thousandths


def compare(bins: dict[int, int], k: int, rtt_us: int, bin_us: int, params: SearchParams) -> Decision:
    """Lines 12 to 20 of Algorithm 1 over bins that are never overwritten, in exact fractions."""
    window, fraction = params.bins, Fraction(rtt_us % bin_us, bin_us)
    p = k - rtt_us // bin_us
    if p < window:
        return k, TOO_FEW_BINS, 0, 0, 0
    oldest_touched = p - window if fraction else p - window + 1
    if oldest_touched <= k - (params.bins + params.extra_bins):
        return k, RTT_TOO_LONG, 0, 0, 0
    middle = sum(bins.get(i, 0) for i in range(p - window + 1, p))
    prev = floor(middle + fraction * bins.get(p - window, 0) + (1 - fraction) * bins.get(p, 0))
    if prev == 0:
        return k, NO_PREVIOUS, 0, 0, 0
    curr = sum(bins.get(i, 0) for i in range(k - window + 1, k + 1))
    norm = Fraction(2 * prev - curr, 2 * prev)
    verdict = EXIT if norm >= Fraction(params.threshold_pct, 100) else STAY
    return k, verdict, curr, prev, floor(1000 * norm)


def algorithm_1(acks: Acks, params: SearchParams) -> list[Decision]:
    """The thesis's pseudocode with an endless array for its ring."""
    rows = [tuple(int(value) for value in row) for row in zip(*acks, strict=True) if row[1] > 0]
    if not rows:
        return []
    (now, rtt, before), *rest = rows
    bin_us = max(1, rtt * params.window_factor_tenths // (10 * params.bins))
    end, k, bins, decisions = now + bin_us, -1, dict[int, int](), []
    for now, rtt, delivered in rest:
        if now > end:
            passed = (now - end) // bin_us + 1
            end, k = end + passed * bin_us, k + passed
            bins[k], before = delivered - before, delivered
            decisions.append(compare(bins, k, rtt, bin_us, params))
    return decisions


STEPS_US = st.one_of(st.integers(0, 50), st.integers(0, 2_000), st.just(1_000_000))
FIRST_RTT_US = st.integers(1, 1_000)  # short: many bins in few ACKs
ACKS = rough_acks(STEPS_US, st.integers(-1, 6_000), st.integers(0, 10**7), FIRST_RTT_US)  # some RTTs are missing
PARAMS = st.builds(
    SearchParams,
    window_factor_tenths=st.integers(5, 100),
    bins=st.integers(5, 20),
    extra_bins=st.integers(1, 30),
    threshold_pct=st.integers(1, 100),
)


@given(acks=ACKS, params=st.one_of(st.just(PRINTED), PARAMS))
@settings(max_examples=500, deadline=None)
def test_the_core_decides_as_algorithm_1_without_end(search_library: Path, acks: Acks, params: SearchParams) -> None:
    bins = decide(search_library, acks, params)
    fields = ("bin", "verdict", "curr_delv_bytes", "prev_delv_bytes", "norm_permille")
    assert [tuple(int(row[name]) for name in fields) for row in bins] == algorithm_1(acks, params)


def capacity_reached(search_library: Path, **options: Any) -> pl.DataFrame:
    return replay(search_library, *slow_start(600_000, 14, 0.01, capacity_round=8), **options)


def test_the_table_has_the_columns_and_units_of_bins_parquet(search_library: Path) -> None:
    assert capacity_reached(search_library).schema == {
        "t_s": pl.Float64,
        "bin": pl.Int32,
        "rtt_ms": pl.Float64,
        "bin_ms": pl.Float64,
        "curr_delv_bytes": pl.Int64,
        "prev_delv_bytes": pl.Int64,
        "norm_pct": pl.Float64,
        "exit": pl.Boolean,
    }
    first = capacity_reached(search_library).row(0, named=True)
    assert (first["bin"], first["rtt_ms"], first["bin_ms"]) == (0, 600.0, 210.0)
    assert first["t_s"] == 0.216  # ACKs come each 6 ms; the one on the boundary leaves the bin open


def test_what_was_not_compared_is_null_and_the_replay_ends_with_the_exit_unless_requested(search_library: Path) -> None:
    early = capacity_reached(search_library).head(12)
    assert early.select("curr_delv_bytes", "prev_delv_bytes", "norm_pct").null_count().row(0) == (12, 12, 12)
    assert capacity_reached(search_library)[12:].null_count().sum_horizontal().item() == 0
    table = capacity_reached(search_library)
    assert table["exit"].to_list() == [False] * (len(table) - 1) + [True]
    assert table["norm_pct"][-1] >= 35
    to_exit = capacity_reached(search_library)
    whole = capacity_reached(search_library, stop_at_exit=False)
    assert whole.head(len(to_exit)).equals(to_exit)
    assert whole["exit"].sum() == 1
    assert whole["norm_pct"][-1] == pytest.approx(50, abs=0.5)


def test_acks_without_a_sample_are_skipped_and_columns_of_unequal_length_refused(search_library: Path) -> None:
    acks = slow_start(600_000, 14, 0.01, capacity_round=8)
    doubled = acks.only(np.repeat(np.arange(len(acks.t_us)), 2))
    doubled.rtt_us[1::2] = np.resize([0, -1], len(acks.rtt_us))
    doubled.delivered_bytes[1::2] += np.uint64(10**12)
    assert replay(search_library, *doubled).equals(replay(search_library, *acks))
    assert replay(search_library, [], [], []).is_empty()
    with pytest.raises(ValueError, match="one value per ACK"):
        replay(search_library, [1, 2], [1], [1, 2])
