# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of what is judged: how busy a link must be, where a tolerance ends, how wide an interval is."""

from math import sqrt

import polars as pl
import pytest
from lab_papers.evaluation.claims.estimate import Estimate
from lab_papers.evaluation.claims.verdict import AGREES, DIFFERS, UNJUDGED, verdict
from scipy.stats import t

from lab.base.stats import FEWEST_TRIALS, bootstrap
from lab.judge.rules.truth import capacity_s
from lab.tables.link_capacity import LinkCapacity

BYTES_PER_S = 1_000_000


def filled(sent_share: float) -> pl.DataFrame:
    """A queue that stands all the time, before a link that sends this share of its 8 Mb/s."""
    times = [n / 100 for n in range(100)]
    sent = [round(BYTES_PER_S * sent_share * t_s) for t_s in times]
    return pl.DataFrame({"t_s": times, "backlog_bytes": [1514] * 100, "sent_bytes": sent})


@pytest.mark.parametrize(("sent_share", "found_s"), [(0.94, None), (0.96, 0.0)])
def test_a_link_is_busy_from_95_percent_of_what_it_allows_on(sent_share: float, found_s: float | None) -> None:
    assert capacity_s(filled(sent_share), LinkCapacity.constant(8.0, 100.0)) == found_s


@pytest.mark.parametrize(
    ("ours", "says"),
    [
        (Estimate(110.0, 108.0, 112.0, FEWEST_TRIALS), AGREES),  # upper edge
        (Estimate(90.0, 88.0, 92.0, FEWEST_TRIALS), AGREES),  # lower edge
        (Estimate(111.0, 110.0, 112.0, FEWEST_TRIALS), UNJUDGED),  # its interval reaches the upper edge
        (Estimate(89.0, 88.0, 90.0, FEWEST_TRIALS), UNJUDGED),
        (Estimate(111.0, 110.5, 112.0, FEWEST_TRIALS), DIFFERS),
        (Estimate(89.0, 88.0, 89.5, FEWEST_TRIALS), DIFFERS),
        (Estimate(100.0, 99.0, 101.0, FEWEST_TRIALS - 1), UNJUDGED),
    ],
)
def test_both_edges_of_a_tolerance_belong_to_it(ours: Estimate, says: str) -> None:
    assert verdict(100.0, 10.0, ours)[0] == says


def test_the_interval_of_a_mean_is_as_wide_as_95_percent_asks() -> None:
    values = [float(n) for n in range(200)]
    low, high = bootstrap(values)
    assert low is not None
    assert high is not None
    deviation = pl.Series(values).std()
    assert isinstance(deviation, float)
    stated = 2 * float(t.ppf(0.975, 199)) * deviation / sqrt(200)
    assert high - low == pytest.approx(stated, rel=0.06)  # at 90 % it would be 16 % narrower
