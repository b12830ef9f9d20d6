# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the constants of the at-capacity rules would better be: each rule over a grid of them, against the truth.

A rule declares its constants and their grid (lab/judge/rule.py): latency offset has "twice" and "half" the minimum RTT,
median throughput the "first second". The best point judges the most exits as the truth does; among those, it lies
nearest to the truth in time (root mean square).
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.base.stats import mean_sd, share_pct
from lab.judge.frames import Row
from lab.judge.registry import rules
from lab.judge.rule import Constants, Evidence, Judgement, Point
from lab.judge.slow_start import first_exit
from lab.judge.stored import Stored
from lab.tables.columns import schema
from lab.tables.downloads import FLOW
from lab_papers.evaluation import columns

TRIALS_PER_SENDER = 30  # every packet of them is read: more would not move the grid's best point


@dataclass(frozen=True)
class Score:
    """One point of a rule's grid, in one trial: its capacity against the truth, and whether its class is the same."""

    rule: str
    point: Point
    difference_s: float | None
    found: bool
    right: bool | None


def gridded() -> dict[str, Constants]:
    """Return the constants of every rule that has any."""
    return {name: rule.constants for name, rule in rules().items() if rule.constants is not None}


def grid(stored: Stored, truths: pl.DataFrame) -> pl.DataFrame:
    """Score every point of the grids on a scenario; `truths` are the rows of `scores.trials`."""
    known = {(row["cca"], row["trial"]): row for row in truths.unique(["cca", "trial"], keep="first").to_dicts()}
    losses_s = {
        (cca, trial): s for cca, trial, s in stored.judged.outcomes.select("cca", "trial", "loss_s").iter_rows()
    }
    scores: dict[tuple[str, Point], list[Score]] = {}
    for trial in stored.run.trials:
        if trial.number <= TRIALS_PER_SENDER and (trial.cca, trial.number) in known:
            true, one = known[trial.cca, trial.number], copy(trial)
            evidence = Evidence(one, first_exit(one.exits, FLOW), losses_s[one.cca, one.number])
            for score in _of_trial(evidence, true["truth_s"], true["truth_class"]):
                scores.setdefault((score.rule, score.point), []).append(score)
    rows = [_row(stored.name, rule, point, found) for (rule, point), found in scores.items()]
    return _marked(pl.DataFrame(rows, schema=schema(columns.constants())))


def _of_trial(evidence: Evidence, truth_s: float | None, truth_class: str | None) -> Iterator[Score]:
    """Yield what each point of each rule's grid finds in a trial."""
    for rule, constants in gridded().items():
        judgements = constants.judge(evidence, constants.grid)
        for point, judgement in zip(constants.grid, judgements, strict=True):
            yield _score(rule, point, judgement, truth_s, truth_class)


def _score(rule: str, point: Point, found: Judgement, truth_s: float | None, truth_class: str | None) -> Score:
    judged = found.exit_class is not None and truth_class is not None
    difference_s = None if found.capacity_s is None or truth_s is None else found.capacity_s - truth_s
    right = str(found.exit_class) == truth_class if judged else None
    return Score(rule, point, difference_s, found.capacity_s is not None, right)


def _row(scenario: str, rule: str, point: Point, scores: list[Score]) -> Row:
    constants = gridded()[rule]
    off_s = pl.Series([one.difference_s for one in scores], dtype=pl.Float64).drop_nulls()
    judged = [one.right for one in scores if one.right is not None]
    return {
        "scenario": scenario,
        "rule": rule,
        **dict(zip(constants.labels, point, strict=True)),
        "trials": len(scores),
        "found": sum(one.found for one in scores),
        "bias_s": mean_sd(off_s)[0],
        "rms_s": float(np.sqrt((off_s.to_numpy() ** 2).mean())) if off_s.len() else None,
        "judged": len(judged),
        "misjudged_pct": share_pct(judged.count(False), len(judged)),
        "published": point == constants.published,
        "best": False,
    }


def _marked(points: pl.DataFrame) -> pl.DataFrame:
    """Mark the best point of each rule; of equals the first: `rank` alone would take any."""
    place = pl.int_range(pl.len()).alias("place")
    wrong = (pl.col("judged") * pl.col("misjudged_pct").fill_null(0) / 100).round()
    order = pl.struct((wrong - pl.col("judged")).alias("right"), pl.col("rms_s").fill_null(1e9), place)
    return points.with_columns(best=(order.rank("ordinal").over("scenario", "rule") == 1))
