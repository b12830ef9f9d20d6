# SPDX-License-Identifier: GPL-2.0-or-later
"""When a link could have sent so many bytes: the inverse of what it could have sent by a time."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.tables.link_capacity import LinkCapacity


def link(quantity: str, times: list[float], values: list[float]) -> LinkCapacity:
    return LinkCapacity(pl.DataFrame({"quantity": [quantity] * len(times), "t_s": times, "value": values}))


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=5), st.floats(0, 6))
def test_a_link_has_sent_by_that_time_what_it_could_send(rates_mbps: list[float], t_s: float) -> None:
    steps = link("down.rate_mbps", [float(n) for n in range(len(rates_mbps))], rates_mbps)
    assert steps.time_of_bytes(steps.sent_bytes(np.array([t_s])))[0] == pytest.approx(t_s, abs=1e-6)


def test_bytes_leave_at_an_opportunity_wait_through_an_outage_and_for_ever_after_the_last() -> None:
    outage = link("down.rate_mbps", [0.0, 1.0, 3.0], [8.0, 0.0, 8.0])
    assert list(outage.time_of_bytes(np.array([0.5e6, 1.0e6, 1.5e6]))) == pytest.approx([0.5, 1.0, 3.5])
    ended = link("down.rate_mbps", [0.0, 1.0], [8.0, 0.0])
    assert list(ended.time_of_bytes(np.array([1.0e6, 1.1e6]))) == [1.0, np.inf]
    opportunities = link("down.opportunity_bytes", [0.1, 0.2, 0.4], [1500.0, 1500.0, 1500.0])
    found = opportunities.time_of_bytes(np.array([1.0, 1500.0, 1501.0, 4500.0, 4501.0]))
    assert list(found) == [0.1, 0.1, 0.2, 0.4, np.inf]
