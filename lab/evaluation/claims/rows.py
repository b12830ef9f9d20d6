# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of the papers, one row per published value: ours, the verdict, and what a run explains of a difference.

A run is held to the claims and tolerances it was started with (run.json); a scenario that has not run, to its file.
Explanations are of the file as it is now: they come after the run, and only name runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

import polars as pl

from lab.evaluation.claims.counterfactual import Row, Tested, status
from lab.evaluation.claims.difference import difference
from lab.evaluation.claims.estimate import SHARES, Estimate
from lab.evaluation.claims.measured import NOTHING, Measured
from lab.evaluation.claims.sentences import form, sentence, unit
from lab.evaluation.claims.verdict import DIFFERS, UNJUDGED, tolerance_of, verdict
from lab.evaluation.validity import why_invalid
from lab.judge.clock import TIMES
from lab.judge.frames import schema_of
from lab.judge.stored import Stored
from lab.tables.records import ClaimRecord, Explanations, ScenarioRecord


class TestedColumns(TypedDict):
    """The columns of a claim that hold the counterfactual; null without one."""

    counterfactual: str | None
    changes: str | None
    because: str | None
    counterfactual_value: float | None
    counterfactual_lo: float | None
    counterfactual_hi: float | None
    counterfactual_trials: int | None
    closed_pct: float | None


class ComparedColumns(TypedDict):
    """The columns of a claim that compare a published value with ours."""

    id: str
    claim: str
    document: str
    place: str
    row: str
    scenario: str
    cca: str
    form: str
    metric: str
    heuristic: str | None
    unit: str
    clock: str | None
    minutes: float | None
    published: float
    published_sd: float | None
    published_trials: int | None
    tolerance: float
    ours: float | None
    lo: float | None
    hi: float | None
    ours_from_syn: float | None
    trials: int
    verdict: str


class ClaimRow(ComparedColumns, TestedColumns):
    """A published value with ours, the verdict, the difference, and the counterfactual that explains most of it."""

    why: str | None
    difference: float | None
    within_tolerance: bool | None
    interval_contains: bool | None


NOT_RUN = "not run yet"
SCHEMA = schema_of(ClaimRow)
Judged = tuple[str, str | None, Tested | None]  # verdict, why, and the counterfactual that explains most


def rows(
    name: str,
    scenario: ScenarioRecord,
    stored: Stored | None,
    more: Mapping[str, pl.DataFrame],
    counterfactuals: Mapping[str, Stored] | None = None,
) -> Iterator[ClaimRow]:
    """Yield one row per published value of a scenario; `more` holds the tables `versions` and `flows` of all runs."""
    ours = Measured(stored, more) if stored else None
    tests = {key: Measured(run, more) for key, run in (counterfactuals or {}).items()}
    for claims in scenario.get("claims", []):
        for metric, published in claims["values"].items():
            yield _row(name, scenario, claims, metric, published, ours, tests)


def explained_by(scenario: ScenarioRecord, now: ScenarioRecord) -> ScenarioRecord:
    """Return the scenario of a run with the explanations that its file has now."""
    known = {_key(row): row for row in now["claims"]}
    claims: list[ClaimRecord] = []
    for row in scenario.get("claims", []):
        explained = known.get(_key(row))
        given: Explanations = {"counterfactuals": [], "open": None}
        if explained:
            given = {"counterfactuals": explained.get("counterfactuals", []), "open": explained.get("open")}
        claims.append({**row, **given})
    return {**scenario, "claims": claims}


def _key(row: ClaimRecord) -> tuple[str | None, ...]:
    return row["source"], row["row"], row["cca"], row.get("replayed")


def _row(
    name: str,
    scenario: ScenarioRecord,
    claims: ClaimRecord,
    metric: str,
    published: float | Sequence[float],
    ours: Measured | None,
    tests: Mapping[str, Measured],
) -> ClaimRow:
    value, sd = (published, None) if isinstance(published, (int, float)) else published
    clock = claims.get("clock", "data") if metric in TIMES else None
    found = ours.estimate(claims, metric, clock) if ours else NOTHING
    row = Row(name, scenario, claims, metric, clock, value, tolerance_of(scenario["tolerance"], metric, value), found)
    judged = _judged(row, ours, tests)
    from_syn = ours.estimate(claims, metric, "syn").value if ours and clock else None
    minutes = ours.stored.run.meta["wall_s"] / 60 if ours and "wall_s" in ours.stored.run.meta else None
    return _build(row, sd, judged, from_syn, minutes)


def _build(
    row: Row, published_sd: float | None, judged: Judged, from_syn: float | None, minutes: float | None
) -> ClaimRow:
    claims, metric = row.claims, row.metric
    document, place = claims["source"].split(", ", 1)
    who = claims.get("replayed") or claims["cca"]
    found, why, test = judged
    apart = difference(row.published, row.tolerance, row.ours.value, row.ours.lo, row.ours.hi)
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
        "minutes": minutes,
        "published": row.published,
        "published_sd": published_sd,
        "published_trials": claims.get("trials"),
        "tolerance": row.tolerance,
        "ours": row.ours.value,
        "lo": row.ours.lo,
        "hi": row.ours.hi,
        "ours_from_syn": from_syn,
        "trials": row.ours.trials,
        "verdict": found,
        **_tested(test),
        "why": why,
        "difference": apart.value,
        "within_tolerance": apart.within_tolerance,
        "interval_contains": apart.interval_contains,
    }


def _tested(test: Tested | None) -> TestedColumns:
    theirs: Estimate = test.theirs if test else NOTHING
    return {
        "counterfactual": test.scenario if test else None,
        "changes": test.changes if test else None,
        "because": test.because if test else None,
        "counterfactual_value": theirs.value,
        "counterfactual_lo": theirs.lo,
        "counterfactual_hi": theirs.hi,
        "counterfactual_trials": theirs.trials if test else None,
        "closed_pct": test.effect.closed_pct if test else None,
    }


def _judged(row: Row, ours: Measured | None, tests: Mapping[str, Measured]) -> Judged:
    """Judge a row, and where it differs its explanations."""
    invalid = why_invalid(ours.stored.run.trials) if ours and not ours.has_valid() else None
    if excluded := row.claims.get("not_judged"):
        return UNJUDGED, f"{excluded}; {invalid}" if invalid else excluded, None
    if ours is None:
        return UNJUDGED, NOT_RUN, None
    if invalid:
        return UNJUDGED, invalid, None
    if row.clock == "data" and not ours.has_starts():
        return UNJUDGED, "no stored trial records when its data began: it needs a new run", None
    found, why = verdict(row.published, row.tolerance, row.ours)
    return status(row, tests) if found == DIFFERS else (found, why, None)
