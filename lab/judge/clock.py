# SPDX-License-Identifier: GPL-2.0-or-later
"""Two clocks: ours starts with the SYN, a source's with the first data segment that reaches the client.

iperf3 opens its control connection and agrees on the test before it sends data: on a GEO link that takes 1.0 s.
"""

import polars as pl

TIMES = ("capacity_s", "loss_s", "exit_s")  # seconds since the start; a difference of two has no clock
CLOCKS = {"data": "the first data segment", "syn": "the SYN"}


def from_data(name: str) -> str:
    """Name the column of a time that counts from the first data segment."""
    return f"{name.removesuffix('_s')}_from_data_s"


def on_clock(outcomes: pl.DataFrame, clock: str) -> pl.DataFrame:
    """Return outcomes with their times on a source's clock; null where a trial lacks the start of its data."""
    if clock == "syn":
        return outcomes
    return outcomes.with_columns(pl.col(name) - pl.col("data_s") for name in TIMES)
