# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of results/evaluation/: what a row is, and the type, meaning and unit of each column."""

from collections.abc import Iterator

import polars as pl

from lab.judge.columns import CLASSES, OUTCOME, with_meanings
from lab.judge.outcome import SCHEMA as OUTCOME_SCHEMA
from lab.judge.registry import rules
from lab.tables.columns import Column, Columns, Described

TEXT, NUMBER, COUNT, FLAG = pl.String, pl.Float64, pl.Int64, pl.Boolean
SCENARIO = Column(TEXT, "name of the scenario")
CCA = Column(TEXT, OUTCOME["cca"])
TRIAL = Column(COUNT, OUTCOME["trial"])
RULE = Column(TEXT, "the at-capacity rule")
DATA_S = Column(NUMBER, OUTCOME["data_s"])
LOSS_S = Column(NUMBER, OUTCOME["loss_s"])


def _interval(of: str, name: str, unit: str = "") -> Iterator[tuple[str, Column]]:
    for bound, word in (("lo", "lower"), ("hi", "upper")):
        column = f"{name}_{bound}" if name else bound
        yield f"{column}{unit}", Column(NUMBER, f"{word} bound of {of}, 95 %; null where no interval can be given")


def _share(name: str, meaning: str) -> dict[str, Column]:
    share = Column(NUMBER, f"share of {meaning}; null where there is none to count")
    return {f"{name}_pct": share, **dict(_interval(f"{name}_pct", name, "_pct"))}


STATUS = {
    "scenario": SCENARIO,
    "question": Column(TEXT, "what the scenario asks"),
    "profile": Column(TEXT, "name of its link"),
    "counterfactual_of": Column(TEXT, "the scenario that it varies; null of all others"),
    "changes": Column(TEXT, "what it changes of that scenario; null of all others"),
    "run": Column(TEXT, "folder of its fullest run, below results/; null without a run"),
    "state": Column(TEXT, "pending, unfinished or complete"),
    "requested": Column(COUNT, "trials that the scenario's file requests"),
    "stored": Column(COUNT, "trials with a result"),
    "valid": Column(COUNT, "stored trials with a valid certificate"),
    "minutes": Column(NUMBER, "wall time of the run; null where it was not recorded", "min"),
    "virtual_minutes": Column(NUMBER, "requested trials times duration", "min"),
    "note": Column(TEXT, "why no trial is valid; how the file differs from what the run began with; null of neither"),
}
TRIALS = {
    "scenario": SCENARIO,
    "cca": CCA,
    "trial": TRIAL,
    "rule": RULE,
    "rule_s": Column(NUMBER, OUTCOME["capacity_s"]),
    "truth_s": Column(NUMBER, "capacity by the bottleneck's queue, as the client notices it; null where never"),
    "difference_s": Column(NUMBER, "rule_s - truth_s; null where one of them is null"),
    "rule_class": Column(TEXT, "class of the exit by the rule; null where it cannot judge"),
    "truth_class": Column(TEXT, "class of the exit by the truth; null where it cannot judge"),
}
BIAS = Column(NUMBER, "mean of difference_s; null where no trial has one")
SCORES = {
    "scenario": SCENARIO,
    "cca": Column(TEXT, "name of the sender, or `all`"),
    "rule": RULE,
    "trials": Column(COUNT, "valid trials"),
    "found": Column(COUNT, "trials in which the rule finds capacity"),
    "truth_found": Column(COUNT, "trials in which the truth finds capacity"),
    "bias_s": BIAS,
    **dict(_interval("bias_s", "bias", "_s")),
    "bias_median_s": Column(NUMBER, "median of difference_s; null where no trial has one"),
    "spread_s": Column(NUMBER, "standard deviation of difference_s; null below two trials"),
    "judged": Column(COUNT, "trials that both judge"),
    "agree_pct": Column(NUMBER, "share of the judged trials with the same class; null without one"),
    "truly_early": Column(COUNT, "judged trials that are early by the truth"),
    "truly_timely": Column(COUNT, "judged trials that are at the chokepoint or late by the truth"),
    "truly_late": Column(COUNT, "judged trials that are late by the truth"),
    "timely_called_early": Column(COUNT, "truly timely trials that the rule calls early"),
    **_share("timely_called_early", "the truly timely trials"),
    "early_called_timely": Column(COUNT, "truly early trials that the rule does not call early"),
    **_share("early_called_timely", "the truly early trials"),
}
JUDGED_BY = {"truth": "one base RTT of standing queue is capacity", "lasting": "the queue must last to be capacity"}
TRUTHS = {
    "scenario": SCENARIO,
    "cca": Column(TEXT, "name of the sender, or of the replayed version of SEARCH"),
    "replayed": Column(FLAG, "whether its exits are a replay over the downloads without HyStart"),
    "trials": Column(COUNT, "valid trials; those of a sender that are all the same are one"),
    "depends": Column(COUNT, "trials whose class is another by the other truth"),
    **{
        column: each
        for truth, when in JUDGED_BY.items()
        for column, each in {
            f"{truth}_judged": Column(COUNT, f"trials with a class where {when}"),
            **{
                name: share
                for word, words in CLASSES.items()
                for name, share in _share(f"{truth}_{word}", f"these trials that {words}, where {when}").items()
            },
        }.items()
    },
}
RATIO = (
    "the rival's {} over that of the download under test; null where one is missing, the latter is 0, or there are more"
)
FLOWS = {
    "scenario": SCENARIO,
    "pairing": Column(TEXT, "the sender under test, and those beside it"),
    "trial": TRIAL,
    "flow": Column(COUNT, "1 for the download under test, from 2 on its rivals'"),
    "cca": CCA,
    "throughput_mbps": Column(NUMBER, f"{OUTCOME['throughput_mbps']}; null of a rival that had no time"),
    "startup_mbps": Column(
        NUMBER, "rate acknowledged in the first 10 s, or until its end; null without an ACK in them"
    ),
    "rtt_ms": Column(NUMBER, "mean smoothed round trip in the sender's kernel; null without an ACK"),
    "retransmits_pkts": Column(COUNT, OUTCOME["retransmits_pkts"]),
    "jain": Column(NUMBER, "Jain's index of fairness of all throughputs; null where all are 0, or one is null"),
    "throughput_ratio": Column(NUMBER, RATIO.format("throughput")),
    "rtt_ratio": Column(NUMBER, RATIO.format("round trip")),
    "retransmits_ratio": Column(NUMBER, RATIO.format("retransmitted segments")),
    "startup_ratio": Column(NUMBER, RATIO.format("rate of the first 10 s")),
}
METRIC = Column(TEXT, "the compared quantity; its unit is the end of its name")
MEANS = {
    "scenario": SCENARIO,
    "cca": CCA,
    "metric": METRIC,
    "trials": Column(COUNT, "valid trials with a value"),
    "mean": Column(NUMBER, "mean of the metric; null where no trial has a value", "of metric"),
    **dict(_interval("mean", "mean")),
    "sd": Column(NUMBER, "standard deviation; null below two trials", "of metric"),
    "median": Column(NUMBER, "median of the metric; null where no trial has a value", "of metric"),
    **dict(_interval("median", "median")),
}
NO_PAIR = "; null where there is no pair"
PAIRED = {
    "scenario": SCENARIO,
    "metric": METRIC,
    "cca": Column(TEXT, "the first sender"),
    "against": Column(TEXT, "the second sender"),
    "pairs": Column(COUNT, "trial numbers, each one link, at which both senders have a value"),
    "difference": Column(NUMBER, f"mean of first minus second{NO_PAIR}", "of metric"),
    **dict(_interval("difference", "")),
    "median_difference": Column(NUMBER, f"median of first minus second{NO_PAIR}", "of metric"),
    "p_value": Column(NUMBER, "of Wilcoxon's signed-rank test; null below 6 pairs"),
    "pair_effect": Column(NUMBER, f"share of pairs with a larger first value less the share with a smaller{NO_PAIR}"),
    "effect": Column(NUMBER, "Cliff's delta of all values; null where a sender has none"),
    "effect_word": Column(TEXT, "the size of `effect`; null with it"),
}
JUDGE = Column(TEXT, "`heuristic`: the scenario's rule; or a truth: `truth`, `lasting`")
VERSIONS = {
    "scenario": SCENARIO,
    "version": Column(TEXT, "version of SEARCH, replayed over the download"),
    "trial": TRIAL,
    "judge": JUDGE,
    "exit_s": Column(NUMBER, "when the version would have left slow start; null where it would not"),
    "cause": Column(TEXT, "what would have ended slow start; null where nothing would"),
    "capacity_s": Column(NUMBER, "capacity by the judge; null where it finds none"),
    "loss_s": LOSS_S,
    "data_s": DATA_S,
    "exit_class": Column(TEXT, OUTCOME["exit_class"]),
    "bins_error_points": Column(
        NUMBER,
        "mean error of the normalised difference by counting in bins; null of versions that no source states it of",
        "points",
    ),
}
PARAMETERS = {
    "window_rtts": Column(NUMBER, "length of SEARCH's window", "RTTs"),
    "threshold": Column(NUMBER, "threshold of the normalised difference"),
    "bins": Column(COUNT, "bins of a window"),
    "extra_bins": Column(COUNT, "further bins that are kept"),
}
SENSITIVITY = {
    "scenario": SCENARIO,
    "map": Column(TEXT, "the map that the point belongs to"),
    **PARAMETERS,
    "judge": JUDGE,
    "downloads": Column(COUNT, "replayed downloads"),
    "trials": Column(COUNT, "downloads with a class"),
    **{
        column: each
        for name, words in CLASSES.items()
        for column, each in _share(name, f"the judged downloads that {words}").items()
    },
    "never_pct": Column(NUMBER, "share of the downloads that SEARCH does not end; null without a download"),
    "exit_s": Column(NUMBER, "mean time of SEARCH's exits; null where there is none"),
}
CHECKS = {
    "scenario": SCENARIO,
    **PARAMETERS,
    "trial": TRIAL,
    "replayed_exit_s": Column(NUMBER, "exit of the replay; null where there is none"),
    "kernel_exit_s": Column(NUMBER, "exit of the kernel's module; null where there is none"),
    "difference_ms": Column(NUMBER, "kernel_exit_s - replayed_exit_s; null where one of them is null"),
    "replayed_class": Column(TEXT, "class of the replayed exit by the truth; null where it cannot judge"),
    "kernel_class": Column(TEXT, "class of the kernel's exit by the truth; null where it cannot judge"),
}
WITHOUT = "; null without a counterfactual"
OF_RULES = "; null of metrics that follow no at-capacity rule"
CLAIMS = {
    "id": Column(TEXT, "scenario, place, row and metric"),
    "claim": Column(TEXT, "the claim as a sentence"),
    "document": Column(TEXT, "the paper"),
    "place": Column(TEXT, "where the paper has it"),
    "row": Column(TEXT, "its row there"),
    "scenario": SCENARIO,
    "cca": Column(TEXT, "name of the sender, or of the replayed version"),
    "form": Column(TEXT, "the sender as a label"),
    "metric": Column(TEXT, "the compared quantity"),
    "heuristic": Column(TEXT, "the at-capacity rule of the scenario; null where the metric follows none"),
    "unit": Column(TEXT, "unit of the values of this row"),
    "clock": Column(TEXT, "from what the source counts its times; null of other metrics"),
    "minutes": Column(NUMBER, "wall time of the run; null where it was not recorded", "min"),
    "published": Column(NUMBER, "the published value", "of `unit`"),
    "published_sd": Column(NUMBER, "its published standard deviation; null where none is given", "of `unit`"),
    "published_trials": Column(COUNT, "trials behind it; null where the source does not state them"),
    "bound": Column(TEXT, "at_most or at_least: an order or a limit, which our interval must keep; null of a value"),
    "relative_to": Column(TEXT, "the sender whose mean ours is divided by, over the same links; null of others"),
    "pooled": Column(TEXT, "further scenarios whose downloads are counted too; null of others"),
    "tolerance": Column(NUMBER, "how far apart the values may lie; 0: our interval decides alone", "of `unit`"),
    "certain": Column(FLAG, "whether the sender cannot miss the published share, by what ends its slow start"),
    "ours": Column(NUMBER, "our value; null where it cannot be measured", "of `unit`"),
    **dict(_interval("ours", "")),
    "ours_from_syn": Column(NUMBER, "our value counted from the SYN; null of metrics without a clock", "of `unit`"),
    "ours_true": Column(NUMBER, f"our value where a round trip of standing queue is capacity{OF_RULES}", "of `unit`"),
    "ours_lasting": Column(NUMBER, f"our value where the queue must last to be capacity{OF_RULES}", "of `unit`"),
    "trials": Column(COUNT, "trials behind our value"),
    "verdict": Column(TEXT, "agrees, or how it differs"),
    "counterfactual": Column(TEXT, f"the run that explains most of a difference{WITHOUT}"),
    "changes": Column(TEXT, f"what that run changes{WITHOUT}"),
    "because": Column(TEXT, f"why it was tried{WITHOUT}"),
    "counterfactual_value": Column(NUMBER, f"the value of that run{WITHOUT}", "of `unit`"),
    **dict(_interval("counterfactual_value", "counterfactual")),
    "counterfactual_trials": Column(COUNT, f"trials behind it{WITHOUT}"),
    "closed_pct": Column(NUMBER, f"how much of the difference that run closes{WITHOUT}"),
    "why": Column(TEXT, "the reason for the verdict; null where the values agree"),
    "difference": Column(NUMBER, "ours - published; null where ours is null", "of `unit`"),
    "within_tolerance": Column(FLAG, "whether the difference is at most the tolerance; null where ours is null"),
    "interval_contains": Column(
        FLAG, "whether lo to hi contains the published value, or keeps the bound; null without an interval"
    ),
}


def constants() -> Columns:
    """Return the columns of heuristics_constants: one per constant of any rule, null of other rules."""
    labels = {
        name: label for rule in rules().values() if rule.constants for name, label in rule.constants.labels.items()
    }
    return {
        "scenario": SCENARIO,
        "rule": RULE,
        **{name: Column(NUMBER, f"{label}; null of other rules") for name, label in labels.items()},
        "trials": Column(COUNT, "trials whose packets were read"),
        "found": Column(COUNT, "trials in which the rule finds capacity"),
        "bias_s": BIAS,
        "rms_s": Column(NUMBER, "root mean square of the difference from the truth; null where no trial has one"),
        "judged": Column(COUNT, "trials that both judge"),
        "misjudged_pct": Column(NUMBER, "share of the judged trials with another class; null without one"),
        "published": Column(FLAG, "whether these are the published constants"),
        "best": Column(FLAG, "whether this is the best point of the rule"),
    }


def evaluation_tables() -> dict[str, Described]:
    """Return every table of results/evaluation/."""
    outcomes = {
        "scenario": SCENARIO,
        "run": Column(TEXT, "folder of the run"),
        **with_meanings(OUTCOME_SCHEMA, OUTCOME),
    }
    return {
        "status": Described("One row per scenario of the lab.", STATUS),
        "outcomes": Described("One row per trial and at-capacity rule.", outcomes),
        "heuristics_trials": Described("One row per valid trial and at-capacity rule, with the truth.", TRIALS),
        "heuristics": Described("One row per scenario, sender and at-capacity rule.", SCORES),
        "heuristics_constants": Described("One row per scenario and point of a rule's grid of constants.", constants()),
        "truths": Described("One row per scenario and sender, or replayed version of SEARCH.", TRUTHS),
        "means": Described("One row per scenario, sender and metric.", MEANS),
        "paired": Described("One row per scenario, metric and pair of senders.", PAIRED),
        "versions": Described("One row per download, version of SEARCH and judge.", VERSIONS),
        "sensitivity": Described("One row per point of a map of SEARCH's parameters and judge.", SENSITIVITY),
        "sensitivity_checks": Described("One row per point that was also run in the kernel, and trial.", CHECKS),
        "flows": Described("One row per download of a trial with rivals.", FLOWS),
        "claims": Described("One row per published value.", CLAIMS),
    }
