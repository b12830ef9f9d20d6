# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of the sources, one row a published value: ours beside it, and whether it agrees.

A run is held to the claims and tolerances it was started with (run.json); a scenario that has not run, to its file.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl

from lab.evaluation.estimates import RATIOS, SHARES, Estimate, estimate, of_rows
from lab.evaluation.verdict import OPEN, tolerance_of, verdict
from lab.report.stored import Stored
from lab.schema.cca import load_ccas

SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "claim": pl.String,
    "document": pl.String,
    "place": pl.String,
    "row": pl.String,
    "scenario": pl.String,
    "cca": pl.String,
    "metric": pl.String,
    "heuristic": pl.String,
    "unit": pl.String,
    "minutes": pl.Float64,
    "published": pl.Float64,
    "published_sd": pl.Float64,
    "published_trials": pl.Int64,
    "tolerance": pl.Float64,
    "ours": pl.Float64,
    "lo": pl.Float64,
    "hi": pl.Float64,
    "trials": pl.Int64,
    "verdict": pl.String,
    "why": pl.String,
}
WORDS = {
    "early_pct": "{who} leaves slow start before the link is full in {value} % of downloads",
    "chokepoint_pct": "{who} leaves slow start after the link is full and before a loss in {value} % of downloads",
    "late_pct": "{who} leaves slow start only upon a loss in {value} % of downloads",
    "timely_pct": "{who} leaves slow start no earlier than the link is full in {value} % of downloads",
    "capacity_s": "with {who}, the link is full after {value} s",
    "loss_s": "with {who}, the first loss comes after {value} s",
    "exit_s": "{who} leaves slow start after {value} s",
    "headroom_s": "{who} leaves slow start {value} s before the first loss",
    "throughput_mbps": "{who} downloads at {value} Mb/s",
    "median_mbps": "the median throughput of {who} is {value} Mb/s",
    "exit_bitrate_mbps": "{who} leaves slow start at {value} Mb/s",
    "retransmits_pkts": "{who} loses {value} packets",
    "throughput_ratio": "beside {who}, the rival gets {value} times its throughput",
    "retransmits_ratio": "beside {who}, the rival has {value} times its retransmissions",
    "rtt_ratio": "beside {who}, the rival sees {value} times its round trip",
}
UNITS = {"pct": "%", "s": "s", "mbps": "Mb/s", "pkts": "packets", "ratio": "times"}
Rows = Iterator[dict[str, Any]]


def rows(name: str, scenario: dict[str, Any], stored: Stored | None, more: dict[str, pl.DataFrame]) -> Rows:
    """Yield a row per published value of a scenario; `more` holds the tables `versions` and `flows`."""
    for claims in scenario.get("claims", []):
        for metric, published in claims["values"].items():
            yield _row(name, scenario, claims, metric, published, stored, more)


def _row(
    name: str,
    scenario: dict[str, Any],
    claims: dict[str, Any],
    metric: str,
    published: float | list[float],
    stored: Stored | None,
    more: dict[str, pl.DataFrame],
) -> dict[str, Any]:
    value, sd = published if isinstance(published, list) else (published, None)
    tolerance = tolerance_of(scenario["tolerance"], metric, value)
    ours = _ours(name, scenario, claims, metric, stored, more) if stored else Estimate(None, None, None, 0)
    says, why = verdict(value, tolerance, ours) if stored else (OPEN, "not run yet")
    if claims["not_judged"]:
        says, why = OPEN, claims["not_judged"]
    document, place = claims["source"].split(", ", 1)
    who = claims["replayed"] or claims["cca"]
    return {
        "id": "/".join((name, place, claims["row"], metric)),
        "claim": _sentence(metric, who, value, scenario["profile"]),
        "document": document,
        "place": place,
        "row": claims["row"],
        "scenario": name,
        "cca": who,
        "metric": metric,
        "heuristic": scenario["heuristic"] if metric in SHARES or metric == "capacity_s" else None,
        "unit": UNITS[metric.rsplit("_", 1)[1]],
        "minutes": stored.run.meta["wall_s"] / 60 if stored and "wall_s" in stored.run.meta else None,
        "published": value,
        "published_sd": sd,
        "published_trials": claims["trials"],
        "tolerance": tolerance,
        "ours": ours.value,
        "lo": ours.lo,
        "hi": ours.hi,
        "trials": ours.trials,
        "verdict": says,
        "why": why or claims["known"],
    }


def _sentence(metric: str, who: str, value: float, profile: str) -> str:
    words = WORDS[metric].format(who=load_ccas()[who].label, value=f"{value:g}")
    return f"{words[0].upper()}{words[1:]} ({profile})."


def _ours(
    name: str,
    scenario: dict[str, Any],
    claims: dict[str, Any],
    metric: str,
    stored: Stored,
    more: dict[str, pl.DataFrame],
) -> Estimate:
    if metric in RATIOS:
        flows = more["flows"]
        if flows.is_empty():
            return Estimate(None, None, None, 0)
        return of_rows(flows.filter(pl.col("scenario") == name).unique("trial", maintain_order=True), metric)
    if claims["replayed"]:
        versions = more["versions"]
        if versions.is_empty():
            return Estimate(None, None, None, 0)
        which = (pl.col("scenario") == name) & (pl.col("version") == claims["replayed"])
        return of_rows(versions.filter(which & (pl.col("judge") == "heuristic")), metric)
    return estimate(stored, claims["cca"], metric, scenario["heuristic"])
