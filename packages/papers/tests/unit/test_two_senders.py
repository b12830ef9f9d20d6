# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of two senders against each other, held against scipy and counting."""

import numpy as np
import pytest
import scipy.stats
from lab_papers.evaluation.senders import cliffs_delta, signed_rank

RNG = np.random.default_rng(5)


def test_pairs_are_tested_by_scipys_signed_rank_over_whole_ones() -> None:
    first, second = list(RNG.normal(1, 1, 40)), list(RNG.normal(0, 1, 40))
    tested = scipy.stats.wilcoxon(first, second, zero_method="pratt").pvalue
    assert signed_rank([*first, None, 9.0], [*second, 1.0, None]) == pytest.approx(tested)


def test_links_that_differ_more_than_senders_hide_nothing_from_a_paired_test() -> None:
    links = RNG.uniform(10, 1000, 30)
    assert (signed_rank(list(links + 1), list(links)) or 1) < 1e-5
    assert abs(cliffs_delta(list(links + 1), list(links)) or 0) < 0.05


def test_few_or_equal_pairs_prove_nothing() -> None:
    assert signed_rank([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]) is None
    assert signed_rank([2.0] * 8, [2.0] * 8) == 1.0


def test_cliffs_delta_counts_pairs() -> None:
    first, second = RNG.normal(0.5, 1, 31), RNG.normal(0, 1, 17)
    counted = np.mean([np.sign(a - b) for a in first for b in second])
    assert cliffs_delta(list(first), list(second)) == pytest.approx(counted)
    assert (cliffs_delta([2, 3], [0, 1]), cliffs_delta([], [1])) == (1.0, None)
