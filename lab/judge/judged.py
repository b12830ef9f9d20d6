# SPDX-License-Identifier: GPL-2.0-or-later
"""Every trial of a run, judged once: what the rules say of it is kept beside the run until one of them changes.

`outcomes.parquet` has a row a trial and heuristic, `trials.parquet` a row a trial. Each row carries the digest of what
it was made from (trial.json, the sizes of the trial's tables, the source of the rules), so that a trial is judged anew
when any of that changes, and only then.
"""

import hashlib
import io
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.errors import UserError
from lab.judge import digest, outcome
from lab.judge.files import write_whole
from lab.judge.frames import Schema
from lab.judge.source import judging_digest
from lab.tables.stored_run import Run
from lab.tables.stored_trial import TABLES, Trial

OUTCOMES, TRIALS = "outcomes.parquet", "trials.parquet"
KEY: Schema = {"digest": pl.String}
TRIAL_SCHEMA: Schema = {"cca": pl.String, "trial": pl.Int64, "valid": pl.Boolean, **digest.SCHEMA}
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


def judged(run: Run, workers: int | None = None) -> Judged:
    """Judge what has changed since the last time, keep it, and return all."""
    known = {name: _kept(run.path / name, schema) for name, schema in _tables().items()}
    trials = run.trials
    keys = {trial.path.name: _digest(trial) for trial in trials}
    had = set(known[OUTCOMES]["digest"]) & set(known[TRIALS]["digest"])
    fresh, faults = [], run.faults
    new = [trial.path for trial in trials if keys[trial.path.name] not in had]
    for path, found in zip(new, _judge_all(new, workers), strict=True):
        if isinstance(found, str):
            faults.append(found)
        else:
            fresh.append((keys[path.name], *found))
    rows: dict[str, list[Mapping[str, Any]]] = {
        OUTCOMES: [{**row, "digest": key} for key, of_outcome, _ in fresh for row in of_outcome],
        TRIALS: [{**row, "digest": key} for key, _, row in fresh],
    }
    tables = {
        name: _merged(run, known[name], pl.DataFrame(rows[name], schema=schema, orient="row"), set(keys.values()))
        for name, schema in _tables().items()
    }
    for name, table in tables.items():
        if not table.equals(known[name]):
            _keep(run.path / name, table)
    return Judged(tables[OUTCOMES].drop("digest"), tables[TRIALS].drop("digest"), tuple(faults))


def _tables() -> dict[str, Schema]:
    return {OUTCOMES: {**outcome.SCHEMA, **KEY}, TRIALS: {**TRIAL_SCHEMA, **KEY}}


def _kept(file: Path, schema: Schema) -> pl.DataFrame:
    """What was kept; nothing where the file is of another time, or not whole: it can be made again."""
    try:
        table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError):
        return pl.DataFrame(schema=schema)
    return table if dict(table.schema) == schema else pl.DataFrame(schema=schema)


def _keep(file: Path, table: pl.DataFrame) -> None:
    """Keep it for the next time; a folder that cannot be written costs that time, and no result."""
    content = io.BytesIO()
    table.write_parquet(content, compression="zstd")
    with suppress(OSError):
        write_whole(file, content.getvalue())


def _merged(run: Run, known: pl.DataFrame, fresh: pl.DataFrame, keys: set[str]) -> pl.DataFrame:
    """Rows of the trials that are there now, senders in the scenario's order."""
    order = {cca: number for number, cca in enumerate(run.meta["scenario"]["ccas"])}
    now = pl.concat([known.filter(pl.col("digest").is_in(list(keys))), fresh])
    return now.sort(pl.col("cca").replace_strict(order, return_dtype=pl.Int64), "trial", maintain_order=True)


def _judge_all(folders: Sequence[Path], workers: int | None) -> Iterator[Found]:
    processes = min(workers or len(os.sched_getaffinity(0)), len(folders) // FEW)
    if processes < 2:
        yield from map(_judge, folders)
        return
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, context, _alone) as pool:
            found = list(pool.map(_judge, folders, chunksize=4))
    except BrokenProcessPool:  # a worker was killed, or cannot be started from where this was called
        found = list(map(_judge, folders))
    yield from found


def _alone() -> None:
    os.environ["POLARS_MAX_THREADS"] = "1"


def _judge(folder: Path) -> Found:
    """Both tables' rows of a trial, or the line that says why not."""
    trial = copy(Trial(folder))
    try:
        row: TrialRow = {"cca": trial.cca, "trial": trial.number, "valid": trial.valid, **digest.digest(trial)}
        return outcome.outcome(trial), row
    except UserError as error:
        return str(error)


def _digest(trial: Trial) -> str:
    """Digest of what a trial's rows are made from; tables count by their size, for they are written once."""
    told = hashlib.sha256(judging_digest().encode())
    told.update((trial.path / "trial.json").read_bytes())
    for name in TABLES:
        file = trial.path / f"{name}.parquet"
        told.update(f"{name} {file.stat().st_size if file.exists() else None}".encode())
    return told.hexdigest()[:16]
