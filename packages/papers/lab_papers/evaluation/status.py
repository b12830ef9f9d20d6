# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of each scenario: trials requested, stored and valid, and whether its file has changed since its run."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.errors import UserError
from lab.judge.frames import Cell, Row
from lab.runs.experiment import digest, trial_part
from lab.runs.run_folder import LATEST
from lab.schema.scenario import Scenario, load_scenario, scenarios
from lab.tables.columns import schema
from lab.tables.stored_run import Run
from lab_papers.evaluation.claims.counterfactual import changes
from lab_papers.evaluation.columns import STATUS
from lab_papers.fullest import fullest_run, why_invalid

PENDING, UNFINISHED, COMPLETE = "pending", "unfinished", "complete"


def status(results: Path, runs: Iterable[Run] = ()) -> pl.DataFrame:
    """Return one row per scenario of the lab; runs: those that were read already, whose files need no second check."""
    known = {run.path: run for run in runs}
    rows = [_row(results, name, load_scenario(name)[1], known) for name in scenarios()]
    return pl.DataFrame(rows, schema=schema(STATUS))


def _row(results: Path, name: str, scenario: Scenario, known: Mapping[Path, Run]) -> Row:
    requested = scenario.trials * len(scenario.ccas)
    row: dict[str, Cell] = {
        "scenario": name,
        "question": scenario.question,
        "profile": scenario.profile,
        "counterfactual_of": scenario.counterfactual_of,
        "changes": _changes(scenario),
        "run": None,
        "state": PENDING,
        "requested": requested,
        "stored": 0,
        "valid": 0,
        "minutes": None,
        "virtual_minutes": requested * scenario.duration_s / 60,
        "note": None,
    }
    try:
        folder = _shown(results / name)
        if folder is None:
            return row
        return {**row, **_of_run(known.get(folder) or Run(folder), scenario, results)}
    except UserError as error:
        return row | {"note": str(error)}


def _changes(scenario: Scenario) -> str | None:
    base = scenario.counterfactual_of
    return changes(load_scenario(base)[1].model_dump(), scenario.model_dump()) if base else None


def _shown(folder: Path) -> Path | None:
    """Return the run that stands for a scenario; without a complete one the newest."""
    if (folder / LATEST / "run.json").exists():
        return fullest_run(folder / LATEST).path
    found = sorted(file.parent for file in folder.glob("[0-9]*/run.json"))
    return found[-1] if found else None


def _of_run(run: Run, scenario: Scenario, results: Path) -> Row:
    trials = run.trials
    notes = (why_invalid(trials), _note(run.meta["scenario"], scenario.model_dump()))
    return {
        "run": str(run.path.relative_to(results.resolve())),
        "state": COMPLETE if run.complete else UNFINISHED,
        "stored": len(trials),
        "valid": sum(trial.valid for trial in trials),
        "minutes": run.meta["wall_s"] / 60 if "wall_s" in run.meta else None,
        "note": "; ".join(filter(None, notes)) or None,
    }


def _note(then: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Return how the file differs from what the run was started with; null where it does not."""
    then, now = trial_part(then), trial_part(now)
    if digest(then) == digest(now):
        return None
    if digest(then | {"trials": 0}) == digest(now | {"trials": 0}):
        return f"{then['trials']} of {now['trials']} trials of each sender"
    return "the scenario was edited since this run"
