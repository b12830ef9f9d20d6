# SPDX-License-Identifier: GPL-2.0-or-later
"""The most that a link can send in a span of time, against a search through all spans."""

import numpy as np
import polars as pl
import pytest

from lab.tables.link_capacity import LinkCapacity

RATE, OPPORTUNITIES = "down.rate_mbps", "down.opportunity_bytes"


def link(quantity: str, rows: list[tuple[float, float]]) -> LinkCapacity:
    table = pl.DataFrame(rows, schema=["t_s", "value"], orient="row").cast(pl.Float64)
    return LinkCapacity(table.select(pl.lit(quantity).alias("quantity"), "t_s", "value"))


@pytest.mark.parametrize(
    ("quantity", "rows", "span_s", "most_bytes"),
    [
        (RATE, [(0, 8)], 0.5, 500_000),
        (RATE, [(0, 1), (10, 8), (11, 1)], 2, 1_125_000),
        (RATE, [(0, 4), (10, 8), (11, 1)], 2, 1_500_000),  # the span that ends with the fastest second
        (RATE, [(0, 8), (1, 0), (2, 8)], 1.5, 1_500_000),  # at the end the last rate holds
        (OPPORTUNITIES, [(0, 1514), (0.02, 75_700), (0.04, 75_700)], 0.001, 75_700),
        (OPPORTUNITIES, [(0, 1514), (0.02, 75_700), (0.04, 75_700)], 0.03, 151_400),
        (OPPORTUNITIES, [(0, 1514)], 0.01, 1514),
    ],
)
def test_the_most_of_a_span_is_found_wherever_the_span_begins(
    quantity: str, rows: list[tuple[float, float]], span_s: float, most_bytes: float
) -> None:
    found = link(quantity, rows)
    assert found.most_bytes_in(span_s) == pytest.approx(most_bytes, rel=1e-6)
    begins_s = np.arange(-1, 13, 0.0005) + 0.00025
    tried = found.sent_bytes(begins_s + span_s) - found.sent_bytes(begins_s)
    assert tried.max() <= found.most_bytes_in(span_s) * (1 + 1e-6)
