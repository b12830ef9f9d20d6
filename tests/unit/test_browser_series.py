# SPDX-License-Identifier: GPL-2.0-or-later
"""What the trial browser draws: stretches of time, the smallest and the largest value in each, losses, all thinned."""

import numpy as np
import polars as pl
import pytest

from lab.report.browser import series
from lab.report.browser.series import BUCKETS, FOCUS, MOST_EVENTS


def test_half_of_the_stretches_lie_in_slow_start_and_each_has_its_extremes() -> None:
    edges_s = series._edges_s(30.0, 4.0)
    assert len(edges_s) == BUCKETS + 1
    assert edges_s[BUCKETS // 2] == 4.0 * FOCUS
    assert np.allclose(np.diff(edges_s[: BUCKETS // 2 + 1]), 5.0 / (BUCKETS // 2))
    assert np.allclose(np.diff(edges_s[BUCKETS // 2 :]), 25.0 / (BUCKETS // 2))
    assert (edges_s[0], edges_s[-1]) == (0.0, 30.0)
    values = pl.DataFrame({"t_s": [0.0, 0.5, 2.0, 2.9, 4.0], "value": [5.4, 1.6, 7.0, 3.0, 9.0]})
    found = series._ranges(values, np.array([0.0, 1.0, 2.0, 3.0, 4.0]), 0.1)
    assert found == {"step": 0.1, "low": [2, None, 1, 6], "high": [5, None, 2, 2]}
    qdisc = pl.DataFrame({"t_s": [-0.5, -0.2, 0.1, 0.2, 0.3, None], "drops_pkts": [0, 1, 1, 3, 4, 5]})
    assert series._drops_ms(qdisc) == [200.0, 300.0]


@pytest.mark.parametrize("last_moment_s", [None, 24.0, 29.0])
def test_stretches_are_alike_where_slow_start_has_no_end_or_lasts_to_the_end(last_moment_s: float | None) -> None:
    edges_s = series._edges_s(30.0, last_moment_s)
    assert np.allclose(edges_s, np.linspace(0, 30.0, BUCKETS + 1))


@pytest.mark.parametrize(
    ("events", "every"), [(0, 1), (1, 1), (MOST_EVENTS, 1), (MOST_EVENTS + 1, 2), (3 * MOST_EVENTS, 3)]
)
def test_many_events_are_thinned_evenly_and_counted(events: int, every: int) -> None:
    times_ms = [float(number) for number in range(events)]
    assert series._thin(times_ms) == {"count": events, "ms": times_ms[::every]}
