# SPDX-License-Identifier: GPL-2.0-or-later
"""Ours, for a row of a source's table: of the sender, the form of SEARCH and the clock that the source used."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from lab.evaluation.claims.estimate import RATIOS, Estimate, of_rows
from lab.judge.clock import TIMES, on_clock
from lab.judge.copies import distinct
from lab.judge.registry import rule_of
from lab.judge.stored import Stored
from lab.tables.records import ClaimRecord

NOTHING = Estimate(None, None, None, 0)


@dataclass(frozen=True)
class Measured:
    """A stored run with the tables that were made of it; `tables` holds `versions` and `flows` of many runs."""

    stored: Stored
    tables: Mapping[str, pl.DataFrame]

    def estimate(self, claims: ClaimRecord, metric: str, clock: str | None, truth: str | None = None) -> Estimate:
        """Estimate a metric for a row of a source's table by its rule, or by a truth; times count on `clock`."""
        if metric in RATIOS:
            return self._of("flows", pl.lit(value=True), metric, None)
        if claims.get("replayed"):
            which = (pl.col("version") == claims["replayed"]) & (pl.col("judge") == (truth or "heuristic"))
            return self._of("versions", which, metric, clock)
        rule = truth or rule_of(self.stored.run.scenario)
        return _on(distinct(self.stored.judged.outcomes).filter(cca=claims["cca"], heuristic=rule), metric, clock)

    def has_valid(self) -> bool:
        """Return whether any trial is valid."""
        return bool(self.stored.judged.trials["valid"].any())

    def has_starts(self) -> bool:
        """Return whether any trial records when its data began."""
        starts = self.stored.judged.outcomes["data_s"]
        return starts.null_count() < starts.len()

    def _of(self, table: str, which: pl.Expr, metric: str, clock: str | None) -> Estimate:
        rows = self.tables.get(table, pl.DataFrame())
        if rows.is_empty():
            return NOTHING
        own = rows.filter((pl.col("scenario") == self.stored.name) & which).unique("trial", maintain_order=True)
        return _on(own, metric, clock)


def _on(rows: pl.DataFrame, metric: str, clock: str | None) -> Estimate:
    return of_rows(on_clock(rows, clock) if clock and metric in TIMES else rows, metric)
