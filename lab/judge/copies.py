# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies: where all valid trials of a sender are the same, packet for packet, they are one trial.

A link without any draw gives the same download whatever the trial's seed. Such trials have no spread, so that their
number is no evidence: no interval, and no test. Where only some trials are the same they count as they are: each is a
draw of its own, which had the same effect as another (a link's rare loss that did not come), and left out they would
distort shares and means.
"""

import polars as pl


def distinct(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the valid rows of outcomes or trials; of a sender whose trials are all the same, those of the first."""
    valid = rows.filter("valid")
    first = pl.col("trial") == pl.col("trial").min().over("cca")
    return valid.filter(first | ~_all_the_same())


def copied(rows: pl.DataFrame) -> dict[str, int]:
    """Return how many valid trials each sender has, of those whose trials are all the same."""
    same = rows.filter("valid").filter(_all_the_same()).group_by("cca", maintain_order=True)
    counts = same.agg(trials=pl.col("trial").n_unique())
    return {cca: trials for cca, trials in counts.rows() if trials > 1}


def copied_text(trials: int) -> str:
    """State that so many trials are one."""
    return f"{trials} trials, all the same: one"


def _all_the_same() -> pl.Expr:
    """Return whether every valid trial of a row's sender has the same packets; not where they are unknown."""
    packets = pl.col("packets")
    return ((packets.n_unique().over("cca") == 1) & packets.is_not_null()).fill_null(value=False)
