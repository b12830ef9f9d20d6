# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders against each other: means with intervals, and differences on the same links (a trial number is a link)."""

from collections.abc import Iterable
from dataclasses import asdict
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy  # loads scipy.stats at its first use

from lab.base import stats
from lab.base.stats import Values, bootstrap, effect_word, mean_sd, median, paired
from lab.judge.copies import distinct
from lab.judge.frames import Row
from lab.judge.registry import TRUTH
from lab.judge.stored import Stored

SIZES_MB = {"download_1mb_s": 1, "download_5mb_s": 5, "download_10mb_s": 10, "download_20mb_s": 20}
METRICS = ("exit_s", "capacity_s", "loss_s", "throughput_mbps", "retransmits_pkts", *SIZES_MB)
STEP_BYTES = 100_000  # of lab.judge.digest's object sizes
MOST_COUNTED = 13  # pairs: scipy.stats.wilcoxon takes an approximation where more of them tie


def signed_rank(first: Values, second: Values) -> float | None:
    """Wilcoxon's p value, zeros ranked by Pratt's method; none of fewer than 6 pairs, which can prove nothing.

    Of 6 to 13 pairs every permutation counts, as in scipy.stats.wilcoxon, which ranks the values again for each.
    """
    found = stats.differences(first, second)
    if len(found) < stats.FEWEST_VALUES:
        return None
    if not found.any():
        return 1.0
    if len(found) > MOST_COUNTED:
        return float(scipy.stats.wilcoxon(found, zero_method="pratt").pvalue)
    ranks = np.sign(found) * scipy.stats.rankdata(np.abs(found))
    counted = scipy.stats.permutation_test((ranks,), _of_larger, permutation_type="samples", vectorized=True, axis=-1)
    return float(counted.pvalue)


def _of_larger(ranks: "npt.NDArray[np.float64]", axis: int) -> "npt.NDArray[np.float64]":
    """Return the sum of the ranks of differences above zero."""
    return np.asarray(np.maximum(ranks, 0).sum(axis=axis))


def cliffs_delta(first: Values, second: Values) -> float | None:
    """How often a value of the first exceeds one of the second, less how often it is below: -1 to 1."""
    a, b = ([value for value in values if value is not None] for values in (first, second))
    if not a or not b:
        return None
    larger = scipy.stats.mannwhitneyu(a, b, method="asymptotic").statistic  # ties count half
    return float(2 * larger / (len(a) * len(b)) - 1)


def values(stored: Stored) -> pl.DataFrame:
    """Return one row per valid trial with every metric; capacity is the truth's."""
    truth = distinct(stored.judged.outcomes).filter(heuristic=TRUTH)
    picked = [
        pl.col("download_s").list.get(size * 1_000_000 // STEP_BYTES - 1, null_on_oob=True).alias(name)
        for name, size in SIZES_MB.items()
    ]
    sizes = stored.judged.trials.select("cca", "trial", *picked)
    return truth.join(sizes, on=["cca", "trial"], how="left", maintain_order="left").select("cca", "trial", *METRICS)


def means(stored: Stored) -> pl.DataFrame:
    """Mean and median of each metric and sender, with intervals."""
    by_sender = values(stored).group_by("cca", maintain_order=True)
    return _table(
        _mean(stored.name, str(cca), metric, part[metric]) for (cca,), part in by_sender for metric in METRICS
    )


def _mean(scenario: str, cca: str, metric: str, column: pl.Series) -> Row:
    known = column.drop_nulls()
    mean, sd = mean_sd(known)
    mean_lo, mean_hi = bootstrap(known.to_list())
    median_lo, median_hi = bootstrap(known.to_list(), np.median)
    return {
        "scenario": scenario,
        "cca": cca,
        "metric": metric,
        "trials": known.len(),
        "mean": mean,
        "mean_lo": mean_lo,
        "mean_hi": mean_hi,
        "sd": sd,
        "median": median(known),
        "median_lo": median_lo,
        "median_hi": median_hi,
    }


def differences(stored: Stored) -> pl.DataFrame:
    """Each pair of senders on each metric, over the trials that both have."""
    table, pairs = values(stored), combinations([str(stanza["name"]) for stanza in stored.ccas], 2)
    return _table(
        _difference(stored.name, metric, first, second, table) for first, second in pairs for metric in METRICS
    )


def _table(rows: Iterable[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


def _difference(scenario: str, metric: str, first: str, second: str, table: pl.DataFrame) -> Row:
    one, other = (table.filter(pl.col("cca") == cca).select("trial", value=metric) for cca in (first, second))
    both = one.join(other, on="trial", suffix="_other", maintain_order="left")
    a, b = both["value"].to_list(), both["value_other"].to_list()
    found = asdict(paired(a, b)) | {"p_value": signed_rank(a, b)}
    found["pair_effect"] = found.pop("effect")
    delta = cliffs_delta(one["value"].to_list(), other["value"].to_list())
    about = {"scenario": scenario, "metric": metric, "cca": first, "against": second}
    return about | found | {"effect": delta, "effect_word": effect_word(delta)}
