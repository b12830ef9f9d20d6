# SPDX-License-Identifier: GPL-2.0-or-later
"""The run in one table: one row per sender and rule, in the columns of summary.csv.

Invalid trials count in `trials` and nowhere else. Shares are of the valid trials that have a class
(`judged`): a sender that never left slow start has none. Trials that are all the same count once
(lab.judge.copies), and have no interval. A mean is over the valid trials in which the event
happened, and `capacity_trials`, `loss_trials` and `exit_trials` count those. Retransmissions have a mean where those of
each trial are known: a stack's log may name none exactly where it lost some. Times count from the SYN;
those `_from_data_s` from the first data segment that reaches the client (`data_s`), as the sources' do.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import polars as pl

from lab.base.stats import mean_sd, share_row
from lab.judge.classify import ExitClass
from lab.judge.clock import TIMES, from_data, on_clock
from lab.judge.copies import distinct
from lab.judge.frames import Cell, Row, Schema
from lab.judge.registry import rules

CLASSES = tuple(str(exit_class) for exit_class in ExitClass)
MEANS = ("capacity_s", "loss_s", "exit_s", "throughput_mbps", "retransmits_pkts")
EVENTS = ("capacity", "loss", "exit")
SCHEMA: Schema = (
    {"cca": pl.String, "heuristic": pl.String, "trials": pl.Int64, "valid": pl.Int64}
    | {f"{name}_pct": pl.Float64 for name in CLASSES}
    | {name + suffix: pl.Float64 for name in MEANS for suffix in ("", "_sd")}
    | {f"{name}_{bound}_pct": pl.Float64 for name in CLASSES for bound in ("lo", "hi")}
    | {"judged": pl.Int64, "distinct": pl.Int64}
    | {f"{event}_trials": pl.Int64 for event in EVENTS}
    | {name + suffix: pl.Float64 for name in ("data_s", *map(from_data, TIMES)) for suffix in ("", "_sd")}
)


def summarise(outcomes: pl.DataFrame, ccas: Sequence[str]) -> pl.DataFrame:
    """Aggregate the outcomes per sender (in the order given) and heuristic."""
    rows = [_row(outcomes, cca, heuristic) for cca in ccas for heuristic in rules()]
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(outcomes: pl.DataFrame, cca: str, heuristic: str) -> Row:
    trials = outcomes.filter((pl.col("cca") == cca) & (pl.col("heuristic") == heuristic))
    counted, valid = distinct(trials), int(trials["valid"].sum())
    counts: Row = {"cca": cca, "heuristic": heuristic, "trials": trials.height, "valid": valid}
    happened = {f"{event}_trials": counted.height - counted[f"{event}_s"].null_count() for event in EVENTS}
    by_class = shares(counted["exit_class"], copies=counted.height < valid)
    return {**counts, "distinct": counted.height, **by_class, **_means(counted), **happened}


def shares(classes: Iterable[str | None], *, copies: bool = False, prefix: str = "") -> dict[str, Cell]:
    """Return how many exits were judged, and the share of each class with its interval; copies have none."""
    counts = Counter(filter(None, classes))
    row: dict[str, Cell] = {f"{prefix}judged": counts.total()}
    for name in CLASSES:
        row |= share_row(f"{prefix}{name}", counts[name], counts.total(), copies=copies)
    return row


def _means(counted: pl.DataFrame) -> Row:
    means: dict[str, Cell] = {}
    for name in (*MEANS, "data_s"):
        unknown = name == "retransmits_pkts" and counted[name].has_nulls()
        means[name], means[f"{name}_sd"] = mean_sd(() if unknown else counted[name])
    shifted = on_clock(counted, "data")
    for name in TIMES:
        means[from_data(name)], means[f"{from_data(name)}_sd"] = mean_sd(shifted[name])
    return means
