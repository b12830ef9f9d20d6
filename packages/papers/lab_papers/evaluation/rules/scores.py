# SPDX-License-Identifier: GPL-2.0-or-later
"""The at-capacity rules against the truth: bias, spread, and how often they misjudge an exit; shares by both truths.

The truth is the bottleneck's own queue (lab.judge.rules.truth), moved by half the minimum RTT: the rules look from the
client, which notices what the bottleneck does one one-way delay later.
"""

import polars as pl

from lab.base.stats import bootstrap, mean_sd, median, share_pct, share_row
from lab.judge import summary
from lab.judge.copies import copied, distinct
from lab.judge.frames import Cell, Row
from lab.judge.registry import LASTING, TRUTH, TRUTHS, inferred
from lab.judge.stored import Stored
from lab.tables.columns import schema
from lab_papers.evaluation.columns import TRIALS
from lab_papers.evaluation.search.replay import BASE

TIMELY = ("chokepoint", "late")  # the thesis calls timely what is not early (table 5.1)
ALL = "all"


def trials(stored: Stored) -> pl.DataFrame:
    """Return one row per valid trial and rule, with the truth."""
    valid = distinct(stored.judged.outcomes)
    truth = valid.filter(pl.col("heuristic") == TRUTH).select(
        "cca", "trial", truth_s=pl.col("capacity_s") + pl.col("min_rtt_ms") / 2e3, truth_class=pl.col("exit_class")
    )
    rules = valid.filter(pl.col("heuristic").is_in(list(inferred()))).select(
        "cca", "trial", rule="heuristic", rule_s="capacity_s", rule_class="exit_class"
    )
    both = rules.join(truth, on=["cca", "trial"], how="left", maintain_order="left")
    return both.with_columns(scenario=pl.lit(stored.name), difference_s=pl.col("rule_s") - pl.col("truth_s")).select(
        pl.col(name).cast(dtype) for name, dtype in schema(TRIALS).items()
    )


def scores(trials: pl.DataFrame) -> pl.DataFrame:
    """Score each rule on each scenario, by sender and over all of them."""
    rows = [
        _score(part, *map(str, key)) for key, part in trials.group_by("scenario", "cca", "rule", maintain_order=True)
    ]
    together = [
        _score(part, str(scenario), ALL, str(rule))
        for (scenario, rule), part in trials.group_by("scenario", "rule", maintain_order=True)
    ]
    return pl.DataFrame([*rows, *together], infer_schema_length=None)


def _score(part: pl.DataFrame, scenario: str, cca: str, rule: str) -> Row:
    differences = part["difference_s"].drop_nulls()
    bias_s, spread_s = mean_sd(differences)
    lo, hi = bootstrap(differences.to_list())
    about: Row = {"scenario": scenario, "cca": cca, "rule": rule, "trials": part.height}
    found = {
        "found": part["rule_s"].len() - part["rule_s"].null_count(),
        "truth_found": part["truth_s"].len() - part["truth_s"].null_count(),
        "bias_s": bias_s,
        "bias_lo_s": lo,
        "bias_hi_s": hi,
        "bias_median_s": median(differences),
        "spread_s": spread_s,
    }
    return {**about, **found, **_misjudged(part)}


def _misjudged(part: pl.DataFrame) -> Row:
    judged = part.drop_nulls(["rule_class", "truth_class"])
    truly_early = judged.filter(pl.col("truth_class") == "early")
    truly_timely = judged.filter(pl.col("truth_class").is_in(TIMELY))
    agree = int((judged["rule_class"] == judged["truth_class"]).sum())
    called_early = int((truly_timely["rule_class"] == "early").sum())
    called_timely = int(truly_early["rule_class"].is_in(TIMELY).sum())
    return {
        "judged": judged.height,
        "agree_pct": share_pct(agree, judged.height),
        "truly_early": truly_early.height,
        "truly_timely": truly_timely.height,
        "truly_late": int((judged["truth_class"] == "late").sum()),
        "timely_called_early": called_early,
        **share_row("timely_called_early", called_early, truly_timely.height),
        "early_called_timely": called_timely,
        **share_row("early_called_timely", called_timely, truly_early.height),
    }


def shares(stored: Stored, versions: pl.DataFrame) -> list[Row]:
    """Return one row per sender that ran, and per form that was replayed, with its shares by both truths."""
    same = copied(stored.judged.outcomes)
    ran = distinct(stored.judged.outcomes).select("cca", "trial", "exit_class", judge="heuristic")
    about: dict[str, Cell] = {"scenario": stored.name, "replayed": False}
    rows: list[Row] = [about | _shares(cca, part, copies=cca in same) for cca, part in _by_both(ran)]
    if versions.is_empty():
        return rows
    replayed = versions.filter(scenario=stored.name).select("trial", "exit_class", "judge", cca="version")
    about["replayed"] = True
    return rows + [about | _shares(form, part, copies=BASE in same) for form, part in _by_both(replayed)]


def _by_both(classes: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the trials of each sender, with a column for each truth."""
    one, other = (
        classes.filter(judge=truth).select("cca", "trial", pl.col("exit_class").alias(truth)) for truth in TRUTHS
    )
    both = one.join(other, on=["cca", "trial"], maintain_order="left")
    return [(str(cca), part) for (cca,), part in both.group_by("cca", maintain_order=True)]


def _shares(cca: str, part: pl.DataFrame, *, copies: bool) -> dict[str, Cell]:
    depends = int(part.select(pl.col(TRUTH).ne_missing(pl.col(LASTING)).sum()).item())
    row: dict[str, Cell] = {"cca": cca, "trials": part.height, "depends": depends}
    for truth in TRUTHS:
        row |= summary.shares(part[truth], copies=copies, prefix=f"{truth}_")
    return row
