# SPDX-License-Identifier: GPL-2.0-or-later
"""Ours, for a row of a source's table: of the sender, the form of SEARCH and the clock that the source used."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from lab.judge.clock import TIMES, on_clock
from lab.judge.copies import distinct
from lab.judge.digest import OBJECT_BYTES
from lab.judge.registry import rule_of
from lab.judge.stored import Stored
from lab.tables.downloads import FLOW
from lab.tables.records import ClaimRecord
from lab_papers.evaluation.claims.estimate import RATIOS, SPREAD, Estimate, of_rows, ratio_of, values_of
from lab_papers.evaluation.rtt_cycle import cycle_hz

NOTHING = Estimate(None, None, None, 0)
OVERHEAD = "overhead_pct"  # of a structure in the kernel: no download has it


OBJECT = 20_000_000 // OBJECT_BYTES - 1  # in the list `download_s`


@dataclass(frozen=True)
class Measured:
    """A stored run with the tables that were made of it; `tables` holds `versions` and `flows` of many runs."""

    stored: Stored
    tables: Mapping[str, pl.DataFrame]
    pooled: tuple["Measured", ...] = ()  # runs whose downloads are counted too

    def estimate(self, claims: ClaimRecord, metric: str, clock: str | None, truth: str | None = None) -> Estimate:
        """Estimate a metric for a row of a source's table by its rule, or by a truth; times count on `clock`."""
        if metric == OVERHEAD:
            return NOTHING
        if metric == "rtt_cycle_hz":
            return Estimate(*cycle_hz(self.stored))
        tables = [one.rows(claims, claims["cca"], metric, truth) for one in (self, *self.pooled)]
        other = claims.get("relative_to")
        rows, others = (
            pl.concat(tables, how="diagonal_relaxed"),
            self.rows(claims, other, metric, truth) if other else None,
        )
        if rows.is_empty() or (others is not None and others.is_empty()):
            return NOTHING
        if clock and metric.removesuffix(SPREAD) in TIMES:
            rows, others = on_clock(rows, clock), None if others is None else on_clock(others, clock)
        return of_rows(rows, metric) if others is None else _relative(rows, others, metric)

    def rows(self, claims: ClaimRecord, cca: str, metric: str, truth: str | None) -> pl.DataFrame:
        """Return one row per trial with what a metric is made of."""
        if metric in RATIOS:
            return self._of("flows", (pl.col("flow") == FLOW) & (pl.col("cca") == cca))
        if claims.get("replayed"):
            which = (pl.col("version") == claims["replayed"]) & (pl.col("judge") == (truth or "heuristic"))
            found = self._of("versions", which).rename({"cause": "exit_cause"}, strict=False)
        else:
            rule = truth or rule_of(self.stored.run.scenario)
            found = distinct(self.stored.judged.outcomes).filter(cca=cca, heuristic=rule).drop("min_rtt_ms")
        return found.join(self._trials(cca), on="trial", how="left", maintain_order="left") if found.height else found

    def _trials(self, cca: str) -> pl.DataFrame:
        """Return the round trips of a sender's downloads, and when 20 MB had arrived since the first data segment."""
        judged = self.stored.judged
        rtts = judged.outcomes.filter(cca=cca, heuristic=rule_of(self.stored.run.scenario))
        had_s = pl.col("download_s").list.get(OBJECT, null_on_oob=True) - pl.col("data_s")
        return (
            judged.trials.filter(cca=cca)
            .join(rtts.select("trial", "min_rtt_ms", "data_s"), on="trial", maintain_order="left")
            .select("trial", "min_rtt_ms", "initial_rtt_ms", "max_rtt_ms", download_20mb_s=had_s)
        )

    def has_valid(self) -> bool:
        """Return whether any trial is valid."""
        return bool(self.stored.judged.trials["valid"].any())

    def has_starts(self) -> bool:
        """Return whether any trial records when its data began."""
        starts = self.stored.judged.outcomes["data_s"]
        return starts.null_count() < starts.len()

    def _of(self, table: str, which: pl.Expr) -> pl.DataFrame:
        rows = self.tables.get(table, pl.DataFrame())
        if rows.is_empty():
            return rows
        return rows.filter((pl.col("scenario") == self.stored.name) & which)


def _relative(rows: pl.DataFrame, others: pl.DataFrame, metric: str) -> Estimate:
    """Estimate a ratio over the trials of both senders: those of one number have one link."""
    first, second = (part.select("trial", value=values_of(part, metric)) for part in (rows, others))
    both = first.join(second, on="trial", suffix="_other", maintain_order="left")
    return ratio_of(both["value"], both["value_other"])
