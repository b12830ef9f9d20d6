# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of the sources, one row a published value: ours, whether it agrees, and where not, what a run explains.

A run is held to the claims and tolerances it was started with (run.json); a scenario that has not run, to its file.
Explanations are of the file as it is now: they come after the run, and only name runs.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from lab.evaluation.claims.counterfactual import Row, Tested, status
from lab.evaluation.claims.estimate import SHARES, Estimate
from lab.evaluation.claims.measured import NOTHING, Measured
from lab.evaluation.claims.sentences import form, sentence, unit
from lab.evaluation.claims.verdict import DIFFERS, UNJUDGED, tolerance_of, verdict
from lab.judge.clock import TIMES
from lab.judge.stored import Stored

SCHEMA: dict[str, Any] = {
    "id": pl.String,
    "claim": pl.String,
    "document": pl.String,
    "place": pl.String,
    "row": pl.String,
    "scenario": pl.String,
    "cca": pl.String,
    "form": pl.String,
    "metric": pl.String,
    "heuristic": pl.String,
    "unit": pl.String,
    "clock": pl.String,
    "minutes": pl.Float64,
    "published": pl.Float64,
    "published_sd": pl.Float64,
    "published_trials": pl.Int64,
    "tolerance": pl.Float64,
    "ours": pl.Float64,
    "lo": pl.Float64,
    "hi": pl.Float64,
    "ours_from_syn": pl.Float64,
    "trials": pl.Int64,
    "verdict": pl.String,
    "counterfactual": pl.String,
    "changes": pl.String,
    "because": pl.String,
    "counterfactual_value": pl.Float64,
    "counterfactual_lo": pl.Float64,
    "counterfactual_hi": pl.Float64,
    "counterfactual_trials": pl.Int64,
    "closed_pct": pl.Float64,
    "why": pl.String,
}
Rows = Iterator[dict[str, Any]]


def rows(
    name: str,
    scenario: Mapping[str, Any],
    stored: Stored | None,
    more: Mapping[str, pl.DataFrame],
    counterfactuals: Mapping[str, Stored] | None = None,
) -> Rows:
    """Yield a row per published value of a scenario; `more` holds the tables `versions` and `flows` of all runs."""
    ours = Measured(stored, more) if stored else None
    tests = {key: Measured(run, more) for key, run in (counterfactuals or {}).items()}
    for claims in scenario.get("claims", []):
        for metric, published in claims["values"].items():
            yield _row(name, scenario, claims, metric, published, ours, tests)


def explained_by(scenario: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scenario of a run with the explanations that its file has now."""
    known = {_key(row): {key: row[key] for key in ("counterfactuals", "open")} for row in now["claims"]}
    bare: dict[str, Any] = {"counterfactuals": [], "open": None}
    return dict(scenario) | {"claims": [row | known.get(_key(row), bare) for row in scenario.get("claims", [])]}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["source"], row["row"], row["cca"], row.get("replayed")


def _row(
    name: str,
    scenario: Mapping[str, Any],
    claims: Mapping[str, Any],
    metric: str,
    published: float | list[float],
    ours: Measured | None,
    tests: Mapping[str, Measured],
) -> dict[str, Any]:
    value, sd = published if isinstance(published, list) else (published, None)
    clock = claims.get("clock", "data") if metric in TIMES else None
    found = ours.estimate(claims, metric, clock) if ours else NOTHING
    row = Row(name, scenario, claims, metric, clock, value, tolerance_of(scenario["tolerance"], metric, value), found)
    says, why, test = _judged(row, ours, tests)
    return {
        **_about(row, sd),
        "minutes": ours.stored.run.meta["wall_s"] / 60 if ours and "wall_s" in ours.stored.run.meta else None,
        "ours": found.value,
        "lo": found.lo,
        "hi": found.hi,
        "ours_from_syn": ours.estimate(claims, metric, "syn").value if ours and clock else None,
        "trials": found.trials,
        "verdict": says,
        **_test(test),
        "why": why,
    }


def _about(row: Row, published_sd: float | None) -> dict[str, Any]:
    """Word what is claimed, and of whom."""
    claims, metric = row.claims, row.metric
    document, place = claims["source"].split(", ", 1)
    who = claims.get("replayed") or claims["cca"]
    return {
        "id": "/".join((row.name, place, claims["row"], metric)),
        "claim": sentence(metric, who, row.published, row.scenario["profile"]),
        "document": document,
        "place": place,
        "row": claims["row"],
        "scenario": row.name,
        "cca": who,
        "form": form(claims),
        "metric": metric,
        "heuristic": row.scenario["heuristic"] if metric in SHARES or metric == "capacity_s" else None,
        "unit": unit(metric),
        "clock": row.clock,
        "published": row.published,
        "published_sd": published_sd,
        "published_trials": claims["trials"],
        "tolerance": row.tolerance,
    }


def _judged(row: Row, ours: Measured | None, tests: Mapping[str, Measured]) -> tuple[str, str | None, Tested | None]:
    """Judge a row, and where it differs its explanations."""
    if row.claims["not_judged"]:
        return UNJUDGED, row.claims["not_judged"], None
    if ours is None:
        return UNJUDGED, "not run yet", None
    if row.clock == "data" and not ours.has_starts():
        return UNJUDGED, "no stored trial records when its data began: it needs a new run", None
    says, why = verdict(row.published, row.tolerance, row.ours)
    return status(row, tests) if says == DIFFERS else (says, why, None)


def _test(test: Tested | None) -> dict[str, Any]:
    theirs: Estimate = test.theirs if test else NOTHING
    return {
        "counterfactual": test.scenario if test else None,
        "changes": test.changes if test else None,
        "because": test.because if test else None,
        "counterfactual_value": theirs.value,
        "counterfactual_lo": theirs.lo,
        "counterfactual_hi": theirs.hi,
        "counterfactual_trials": theirs.trials if test else None,
        "closed_pct": test.says.closed_pct if test else None,
    }
