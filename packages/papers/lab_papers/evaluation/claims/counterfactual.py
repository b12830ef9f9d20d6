# SPDX-License-Identifier: GPL-2.0-or-later
"""Explanations of a row that differs, each held against the run that tests it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lab.schema.scenario import BESIDES, FIXED
from lab.tables.records import ClaimRecord, CounterfactualRecord, ScenarioRecord
from lab_papers.evaluation.claims.estimate import Estimate
from lab_papers.evaluation.claims.measured import NOTHING, Measured
from lab_papers.evaluation.claims.verdict import EXPLAINED, OPEN, PARTLY, UNEXPLAINED, Explained, explained

BEST_FIRST = (EXPLAINED, PARTLY, UNEXPLAINED)


@dataclass(frozen=True)
class Tested:
    """One explanation: the run that tests it, what that run changes and gives, and what follows."""

    scenario: str
    because: str
    changes: str | None  # null: not run
    theirs: Estimate
    effect: Explained

    @property
    def sentence(self) -> str:
        """The explanation with what its run gives."""
        found = "" if self.theirs.value is None else f" gives {self.theirs.value:.3g}"
        why = f": {self.effect.why}" if self.effect.why else ""
        return f"{self.because} ({self.scenario}{found}{why})"


@dataclass(frozen=True)
class CounterfactualRow:
    """What a row of the claims needs: the source's row, its metric and clock, what was published, and ours."""

    name: str  # of the scenario
    scenario: ScenarioRecord
    claims: ClaimRecord
    metric: str
    clock: str | None
    published: float
    tolerance: float
    ours: Estimate


def status(row: CounterfactualRow, runs: Mapping[str, Measured]) -> tuple[str, str | None, Tested | None]:
    """Return the status of a row that differs, why, and the explanation that explains most of it."""
    tests = sorted(_tests(row, runs), key=_rank)
    remains = row.claims.get("open")
    best = tests[0] if tests else None
    if best is None or best.effect.status == UNEXPLAINED:
        tried = [test.sentence for test in tests]
        found = OPEN if remains else UNEXPLAINED
        return found, "; ".join([*([remains] if remains else []), *tried]) or "no run tests why", best
    others = [f"no better: {test.sentence}" for test in tests[1:]]
    left = [remains] if remains and best.effect.status == PARTLY else []
    return best.effect.status, "; ".join([best.sentence, *left, *others]), best


def _rank(test: Tested) -> tuple[int, float]:
    return BEST_FIRST.index(test.effect.status), -(test.effect.closed_pct or 0.0)


def _tests(row: CounterfactualRow, runs: Mapping[str, Measured]) -> Iterator[Tested]:
    for one in row.claims.get("counterfactuals", []):
        if row.metric in one["moves"]:
            yield _test(row, one, runs.get(one["scenario"]))


def _test(row: CounterfactualRow, one: CounterfactualRecord, run: Measured | None) -> Tested:
    about = one["scenario"], one["because"]
    if run is None:
        return Tested(*about, None, NOTHING, Explained(UNEXPLAINED, None, "not run yet"))
    meta = run.stored.run.scenario
    if meta.get("counterfactual_of") != row.name:
        return Tested(*about, None, NOTHING, Explained(UNEXPLAINED, None, f"it is no counterfactual of {row.name}"))
    theirs = run.estimate(row.claims, row.metric, row.clock)
    effect = explained(row.published, row.tolerance, row.ours, theirs, row.claims.get("bound"))
    return Tested(*about, changes(row.scenario, meta), theirs, effect)


def changes(base: Mapping[str, object], other: Mapping[str, object]) -> str:
    """List the fields that differ, with the counterfactual's values."""
    changed = [key for key in other if key not in (*FIXED, *BESIDES) and other[key] != base.get(key)]
    return ", ".join(f"{key} {other[key]}" for key in changed)
