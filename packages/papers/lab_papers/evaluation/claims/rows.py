# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of the papers, one row per published value: ours, the verdict, and what a run explains of a difference.

A run is held to the claims and tolerances it was started with (run.json); a scenario that has not run, to its file.
Explanations are of the file as it is now: they come after the run, and only name runs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl

from lab.judge.clock import TIMES
from lab.judge.frames import Row
from lab.judge.registry import TRUTHS
from lab.judge.stored import Stored
from lab.schema.cca import load_senders
from lab.tables.columns import schema
from lab.tables.records import ClaimRecord, ScenarioRecord
from lab_papers.evaluation.claims.counterfactual import CounterfactualRow, Tested, status
from lab_papers.evaluation.claims.difference import difference
from lab_papers.evaluation.claims.estimate import BY_CAPACITY, SHARES, SPREAD, Estimate
from lab_papers.evaluation.claims.measured import NOTHING, Measured
from lab_papers.evaluation.claims.sentences import form, sentence, unit
from lab_papers.evaluation.claims.verdict import DIFFERS, UNJUDGED, tolerance_of, verdict
from lab_papers.evaluation.columns import CLAIMS
from lab_papers.fullest import why_invalid

NOT_RUN = "not run yet"
SCHEMA = schema(CLAIMS)
Judged = tuple[str, str | None, Tested | None]  # verdict, why, and the counterfactual that explains most


def rows(
    name: str,
    scenario: ScenarioRecord,
    stored: Stored | None,
    more: Mapping[str, pl.DataFrame],
    counterfactuals: Mapping[str, Stored] | None = None,
) -> Iterator[Row]:
    """Yield one row per published value of a scenario; `more` holds the tables `versions` and `flows` of all runs."""
    ours = Measured(stored, more) if stored else None
    tests = {key: Measured(run, more) for key, run in (counterfactuals or {}).items()}
    for claims in scenario.get("claims", []):
        run = _with_pooled(ours, claims, tests)
        for metric, (value, sd) in published_in(claims):
            clock = claims.get("clock", "data") if metric.removesuffix(SPREAD) in TIMES else None
            found = run.estimate(claims, metric, clock) if run else NOTHING
            tolerance = tolerance_of(scenario["tolerance"], metric, value, claims.get("bound"))
            row = CounterfactualRow(name, scenario, claims, metric, clock, value, tolerance, found)
            yield _build(row, sd, _judged(row, run, tests), _others(row, run))


def _with_pooled(ours: Measured | None, claims: ClaimRecord, runs: Mapping[str, Measured]) -> Measured | None:
    """Return the run with those that a row pools with it; null where one of them is not stored."""
    names = claims.get("pooled") or ()
    if ours is None or any(name not in runs for name in names):
        return None
    return replace(ours, pooled=tuple(runs[name] for name in names))


def published_in(claims: ClaimRecord) -> Iterator[tuple[str, tuple[float, float | None]]]:
    """Yield each published value with its standard deviation, and the latter also as a value of its own."""
    for metric, published in claims["values"].items():
        value, sd = (published, None) if isinstance(published, (int, float)) else published
        yield metric, (value, sd)
        if sd is not None:
            yield f"{metric}{SPREAD}", (sd, None)


def explained_by(scenario: ScenarioRecord, now: ScenarioRecord) -> ScenarioRecord:
    """Return the scenario of a run with the explanations that its file has now."""
    known = {_key(row): row for row in now["claims"]}
    claims: list[ClaimRecord] = []
    for row in scenario.get("claims", []):
        explained = known.get(_key(row))
        tests, remains = (explained.get("counterfactuals", []), explained.get("open")) if explained else ([], None)
        claims.append({**row, "counterfactuals": tests, "open": remains})
    return {**scenario, "claims": claims}


def _key(row: ClaimRecord) -> tuple[str | None, ...]:
    return row["source"], row["row"], row["cca"], row.get("replayed")


def _others(row: CounterfactualRow, ours: Measured | None) -> Row:
    """Return ours on another clock and by other judges."""
    by_rule = ours is not None and _is_by_rule(row.metric)
    true, lasting = (
        ours.estimate(row.claims, row.metric, row.clock, truth).value if ours and by_rule else None for truth in TRUTHS
    )
    return {
        "ours_from_syn": ours.estimate(row.claims, row.metric, "syn").value if ours and row.clock else None,
        "ours_true": true,
        "ours_lasting": lasting,
        "minutes": ours.stored.run.meta["wall_s"] / 60 if ours and "wall_s" in ours.stored.run.meta else None,
    }


def _is_by_rule(metric: str) -> bool:
    return metric in SHARES or metric.removesuffix(SPREAD) in BY_CAPACITY


def _is_certain(row: CounterfactualRow) -> bool:
    """Return whether the sender cannot miss a published share of 0 or 100 %.

    Only a loss ends its slow start, and the links of claims lose nothing before their queue is full.
    """
    if row.metric not in SHARES or row.published not in (0, 100) or row.claims.get("replayed"):
        return False
    sender = load_senders().get(row.claims["cca"])
    return sender is not None and sender.slow_start_exit == "loss"


def _build(row: CounterfactualRow, published_sd: float | None, judged: Judged, others: Row) -> Row:
    claims, metric = row.claims, row.metric
    document, place = claims["source"].split(", ", 1)
    who = claims.get("replayed") or claims["cca"]
    found, why, test = judged
    bound, relative_to = claims.get("bound"), claims.get("relative_to")
    apart = difference(row.published, row.tolerance, row.ours.value, row.ours.lo, row.ours.hi, bound)
    return {
        "id": "/".join((row.name, place, claims["row"], metric)),
        "claim": sentence(metric, row.published, who, row.scenario["profile"], bound, relative_to),
        "document": document,
        "place": place,
        "row": claims["row"],
        "scenario": row.name,
        "cca": who,
        "form": form(claims),
        "metric": metric,
        "heuristic": row.scenario["heuristic"] if _is_by_rule(metric) else None,
        "unit": "times" if relative_to else unit(metric),
        "clock": row.clock,
        "published": row.published,
        "published_sd": published_sd,
        "published_trials": claims.get("trials"),
        "bound": bound,
        "relative_to": relative_to,
        "pooled": ", ".join(claims.get("pooled") or ()) or None,
        "tolerance": row.tolerance,
        "certain": _is_certain(row),
        "ours": row.ours.value,
        "lo": row.ours.lo,
        "hi": row.ours.hi,
        **others,
        "trials": row.ours.trials,
        "verdict": found,
        **_tested(test),
        "why": why,
        "difference": apart.value,
        "within_tolerance": apart.within_tolerance,
        "interval_contains": apart.interval_contains,
    }


def _tested(test: Tested | None) -> Row:
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


def _judged(row: CounterfactualRow, ours: Measured | None, tests: Mapping[str, Measured]) -> Judged:
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
    found, why = verdict(row.published, row.tolerance, row.ours, row.claims.get("bound"))
    return status(row, tests) if found == DIFFERS else (found, why, None)
