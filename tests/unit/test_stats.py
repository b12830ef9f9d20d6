# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares and means: what a handful of trials supports."""

from math import sqrt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from lab.base.stats import bootstrap, largest, mean_sd, median, share_pct, smallest, wilson_pct

counts = st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


@given(counts)
def test_a_wilson_interval_solves_the_score_equation_at_both_ends(hits_of_trials: tuple[int, int]) -> None:
    hits, trials = hits_of_trials
    z, observed = norm.ppf(0.975), hits / trials
    for bound_pct in wilson_pct(hits, trials):
        assert bound_pct is not None
        bound = bound_pct / 100
        assert abs(observed - bound) == pytest.approx(z * sqrt(bound * (1 - bound) / trials), abs=1e-9)


@given(counts)
def test_a_share_lies_in_its_interval_and_the_interval_in_0_to_100(hits_of_trials: tuple[int, int]) -> None:
    low, high = wilson_pct(*hits_of_trials)
    share = share_pct(*hits_of_trials)
    assert low is not None
    assert high is not None
    assert share is not None
    assert -1e-9 <= low <= share + 1e-9 <= high + 2e-9 <= 100 + 3e-9


def test_74_of_77_is_a_share_of_96_with_wilson_bounds_as_published_tables_give_them() -> None:
    assert list(wilson_pct(74, 77)) == pytest.approx([89.16, 98.67], abs=0.01)


def test_no_trials_have_no_share_and_no_interval() -> None:
    assert share_pct(0, 0) is None
    assert wilson_pct(0, 0) == (None, None)


def test_what_did_not_happen_is_in_no_mean() -> None:
    assert list(mean_sd([1.0, None, 3.0])) == pytest.approx([2.0, sqrt(2)])


def test_a_mean_of_nothing_is_null_and_so_is_the_spread_of_one() -> None:
    assert mean_sd([None]) == (None, None)
    assert mean_sd([4.0]) == (4.0, None)


def test_extremes_and_median_of_an_empty_column_are_null() -> None:
    empty = pl.Series("t_s", [], dtype=pl.Float64)
    assert (smallest(empty), median(empty), largest(empty)) == (None, None, None)


def test_the_interval_of_a_mean_is_as_wide_as_95_percent_asks() -> None:
    values = [float(n) for n in range(200)]
    low, high = bootstrap(values)
    assert low is not None
    assert high is not None
    deviation = pl.Series(values).std()
    assert isinstance(deviation, float)
    stated = 2 * float(t.ppf(0.975, 199)) * deviation / sqrt(200)
    assert high - low == pytest.approx(stated, rel=0.06)  # at 90 % it would be 16 % narrower
