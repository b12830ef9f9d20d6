# SPDX-License-Identifier: GPL-2.0-or-later
"""How downloads at the same time share their link: each one's rate while all are there, and Jain's index of fairness.

The time that counts begins with the last download's first data and ends with the first download's end. A rate is what
was acknowledged to the sender in that time.
"""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import polars as pl

from lab.judge.copies import distinct
from lab.judge.stored import Stored
from lab.tables.stored_trial import Trial


@dataclass(frozen=True)
class Shares:
    """The downloads of one trial, the one under test first, while all of them are there; no rates: they never are."""

    cca: str
    senders: Sequence[str]
    rates_mbps: Sequence[float]

    def of_fair_pct(self, place: int) -> float | None:
        """Return a download's rate in percent of an equal share."""
        total = sum(self.rates_mbps)
        return 100 * self.rates_mbps[place] * len(self.rates_mbps) / total if total else None


def shares(stored: Stored) -> list[Shares]:
    """Return the shares of each valid trial of a run."""
    whole = set(distinct(stored.judged.trials).select("cca", "trial").iter_rows())
    return [shares_of(copy(trial)) for trial in stored.run.trials if (trial.cca, trial.number) in whole]


def shares_of(trial: Trial) -> Shares:
    """Return the shares of one trial."""
    flows = trial.meta["flows"]
    begin_s = max(flow.get("data_s", math.inf) for flow in flows)  # early trials lack it
    end_s = min(flow.get("end_s", 0.0) for flow in flows)
    senders = [flow["cca"] for flow in flows]
    if begin_s >= end_s:
        return Shares(trial.cca, senders, [])
    before, after = (_acknowledged(trial.acks, time_s) for time_s in (begin_s, end_s))
    rates = [(after.get(flow["flow"], 0) - before.get(flow["flow"], 0)) * 8e-6 / (end_s - begin_s) for flow in flows]
    return Shares(trial.cca, senders, rates)


def _acknowledged(acks: pl.DataFrame, time_s: float) -> dict[int, int]:
    """Return how many bytes of each flow had been acknowledged by a time."""
    found = acks.filter(pl.col("t_s") <= time_s).group_by("flow").agg(pl.col("snd_una_bytes").max() - 1)
    return dict(found.iter_rows())


def jain(rates: Sequence[float]) -> float | None:
    """Jain's index of fairness: 1 where all get the same, 1/n where one gets all."""
    squares = sum(rate**2 for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares else None
