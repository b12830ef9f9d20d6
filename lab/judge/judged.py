# SPDX-License-Identifier: GPL-2.0-or-later
"""Every trial of a run, judged once: the outcome is stored with the run until the trial or a rule changes.

`outcomes.parquet` has one row per trial and rule, `trials.parquet` one row per trial. Each row has the digest of its
input (the digests of trial.json and of the trial's tables, the source of the rules), so that a trial is judged again
when any of that changes, and only then. Both tables have a digest of their own, and are made again where it is wrong.
"""

import hashlib
import io
import os
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.errors import UserError
from lab.base.processes import map_in_processes
from lab.judge import columns, digest, outcome
from lab.judge.columns import with_meanings
from lab.judge.frames import Schema
from lab.judge.source import judging_digest
from lab.tables.columns import Described, schema
from lab.tables.digests import read_with_digest, write_with_digest
from lab.tables.stored_parquet import write_exact
from lab.tables.stored_run import Run
from lab.tables.stored_trial import FILES, Trial

OUTCOMES, TRIALS = "outcomes.parquet", "trials.parquet"
KEY: Schema = {"digest": pl.String}
TRIAL_SCHEMA: Schema = {"cca": pl.String, "trial": pl.Int64, "valid": pl.Boolean, **digest.SCHEMA}
TABLES = {
    OUTCOMES: Described(
        "One row per trial and at-capacity rule.", with_meanings({**outcome.SCHEMA, **KEY}, columns.OUTCOME)
    ),
    TRIALS: Described("One row per trial.", with_meanings({**TRIAL_SCHEMA, **KEY}, columns.TRIAL)),
}
FEW = 8  # trials: below it a second process costs more than it brings


class TrialRow(digest.Numbers):
    """A row of trials.parquet."""

    cca: str
    trial: int
    valid: bool


Found = str | tuple[list[outcome.Outcome], TrialRow]  # the rows of both tables, or why there are none


@dataclass(frozen=True)
class Judged:
    """Rows of all trials that could be read, and a line for each that could not."""

    outcomes: pl.DataFrame
    trials: pl.DataFrame
    faults: tuple[str, ...] = ()


def judged(run: Run, workers: int | None = None, keep: bool = True) -> Judged:
    """Judge what has changed since the last time, keep it unless the run is only read, and return all."""
    known = {name: _kept(run.path / name) for name in TABLES}
    trials = run.trials
    rules = judging_digest()
    keys = {trial.path.name: _digest(trial, rules) for trial in trials}
    had = set(known[OUTCOMES]["digest"]) & set(known[TRIALS]["digest"])
    fresh, faults = [], list(run.faults)
    new = [trial.path for trial in trials if keys[trial.path.name] not in had]
    for path, found in zip(new, map_in_processes(_judge, new, workers, FEW, _alone), strict=True):
        if isinstance(found, str):
            faults.append(found)
        else:
            fresh.append((keys[path.name], *found))
    rows: dict[str, list[Mapping[str, Any]]] = {
        OUTCOMES: [{**row, "digest": key} for key, of_outcome, _ in fresh for row in of_outcome],
        TRIALS: [{**row, "digest": key} for key, _, row in fresh],
    }
    tables = {name: _merged(run, known[name], _frame(name, rows[name]), set(keys.values())) for name in TABLES}
    for name, table in tables.items():
        if keep and not table.equals(known[name]):
            _keep(run.path / name, table)
    return Judged(tables[OUTCOMES].drop("digest"), tables[TRIALS].drop("digest"), tuple(faults))


def _frame(name: str, rows: list[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema(TABLES[name].columns))


def _kept(file: Path) -> pl.DataFrame:
    """Return the stored table; an empty one where the file is old or damaged, since it can be computed again."""
    empty = _frame(file.name, [])
    try:
        table = pl.read_parquet(io.BytesIO(read_with_digest(file)))
    except (OSError, UserError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return empty
    return table if table.schema == empty.schema else empty


def _keep(file: Path, table: pl.DataFrame) -> None:
    """Keep it for the next time; a folder that cannot be written costs that time, and no result."""
    content = io.BytesIO()
    write_exact(table, content, TABLES[file.name])
    with suppress(OSError):
        write_with_digest(file, content.getvalue())


def _merged(run: Run, known: pl.DataFrame, fresh: pl.DataFrame, keys: set[str]) -> pl.DataFrame:
    """Rows of the trials that are there now, senders in the scenario's order."""
    order = {cca: number for number, cca in enumerate(run.scenario["ccas"])}
    now = pl.concat([known.filter(pl.col("digest").is_in(list(keys))), fresh])
    return now.sort(pl.col("cca").replace_strict(order, return_dtype=pl.Int64), "trial", maintain_order=True)


def _alone() -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"


def _judge(folder: Path) -> Found:
    """Return a trial's rows of both tables, or the line that states why there are none."""
    trial = copy(Trial(folder))
    try:
        row: TrialRow = {"cca": trial.cca, "trial": trial.number, "valid": trial.valid, **digest.digest(trial)}
        return outcome.outcome(trial), row
    except UserError as error:
        return str(error)


def _digest(trial: Trial, rules: str) -> str:
    """Digest of what a trial's rows are made from."""
    made_from = [rules, *map(trial.digest, FILES)]
    return hashlib.sha256("\n".join(made_from).encode()).hexdigest()[:16]
