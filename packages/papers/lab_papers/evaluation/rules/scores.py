# SPDX-License-Identifier: GPL-2.0-or-later
"""The at-capacity rules against the truth: bias, spread, and how often they misjudge an exit.

The truth is the bottleneck's own queue (lab.judge.rules.truth), moved by half the minimum RTT: the rules look from the
client, which notices what the bottleneck does one one-way delay later.
"""

import polars as pl

from lab.base.stats import bootstrap, mean_sd, median, share_pct, share_row
from lab.judge.copies import distinct
from lab.judge.frames import Row
from lab.judge.registry import TRUTH, inferred
from lab.judge.stored import Stored
from lab.tables.columns import schema
from lab_papers.evaluation.columns import TRIALS

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
