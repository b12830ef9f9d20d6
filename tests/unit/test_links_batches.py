# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded series is cleaned piece by piece: where it is cut changes nothing, and a day needs no more memory."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.links import batches
from lab.links.batches import Batches

VALUES = st.one_of(st.just(np.nan), st.integers(0, 9).map(float))
STEPS = {
    "held": partial(batches.held, zero_is_missing=False, scale=2.0),
    "held, zero missing": partial(batches.held, zero_is_missing=True, scale=1.0),
    "binned": lambda rows: batches.binned(batches.present(rows), 0.03, 2.0),
    "least of 50 ms": lambda rows: batches.least_of(batches.held(rows, False, 1.0), 0.05),
}


def cut(t_s: np.ndarray, value: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Hand a series out in pieces."""
    for at in range(0, len(t_s), size):
        yield t_s[at : at + size], value[at : at + size]


def whole(pieces: Batches) -> list[list[float]]:
    """Put pieces together."""
    return [np.concatenate(columns).round(9).tolist() for columns in zip(*pieces, strict=True)]


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@given(values=st.lists(VALUES, min_size=1, max_size=60), first=st.integers(1, 9), size=st.integers(1, 20))
def test_where_a_series_is_cut_changes_nothing(
    step: Callable[[Batches], Batches], values: list[float], first: int, size: int
) -> None:
    t_s, value = np.arange(len(values)) / 100, np.array([float(first), *values[1:]])
    assert whole(step(cut(t_s, value, size))) == whole(step(cut(t_s, value, len(value))))


def test_a_value_is_held_where_one_is_missing_and_bins_hold_what_fell_into_them() -> None:
    t_s, value = np.arange(6) / 10, np.array([np.nan, 0, 3, np.nan, 0, 5])
    assert whole(batches.held(iter([(t_s, value)]), True, 10)) == [[0, 0.1, 0.2, 0.3], [30, 30, 30, 50]]
    assert whole(batches.held(iter([(t_s, value)]), False, 10)) == [[0, 0.1, 0.2, 0.3, 0.4], [0, 30, 30, 0, 50]]
    t_s, value = np.array([0.0, 0.009, 0.01, 0.035]), np.array([1.0, 2, 3, 4])
    assert whole(batches.binned(iter([(t_s, value)]), 0.01, 1.0)) == [[0, 0.01, 0.02, 0.03], [3, 3, 0, 4]]
    t_s, value = np.arange(7) / 100, np.array([5.0, 1, 5, 4, 5, 6, 7])
    assert whole(batches.least_of(iter([(t_s, value)]), 0.03)) == [t_s.tolist(), [5, 1, 1, 1, 4, 4, 5]]
