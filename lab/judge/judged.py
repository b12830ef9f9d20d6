# SPDX-License-Identifier: GPL-2.0-or-later
"""Every trial of a run, judged once: the outcome is stored with the run until the trial or a rule changes.

`outcomes.parquet` has one row per trial and rule, `trials.parquet` one row per trial. Each row has the digest of its
input (the digests of trial.json and of the trial's tables, the source of the rules), so that a trial is judged again
when any of that changes, and only then. Both tables have a seal: those that another user's lab wrote are made again.
"""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from copy import copy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from lab.base import seal
from lab.base.errors import UserError
from lab.base.workers import each_in_processes
from lab.judge import columns, digest, outcome
from lab.judge.columns import with_meanings
from lab.judge.frames import Schema
from lab.judge.source import judging_digest
from lab.tables.columns import Described, schema
from lab.tables.digests import MOST_BYTES
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


@dataclass(frozen=True)
class _Known:
    """What is known of a run before anything is judged."""

    run: Run
    tables: dict[str, pl.DataFrame]  # the stored ones, by name
    keys: dict[Path, str]  # the digest of each trial
    new: list[Path]  # the trials to judge

    @classmethod
    def of(cls, run: Run, rules: str) -> "_Known":
        tables = {name: _kept(run.path / name) for name in TABLES}
        had = set(tables[OUTCOMES]["digest"]) & set(tables[TRIALS]["digest"])
        keys = {trial.path: _digest(trial, rules) for trial in run.trials}
        return cls(run, tables, keys, [path for path, key in keys.items() if key not in had])


def judged(run: Run, keep: bool = True) -> Judged:
    """Judge what has changed since the last time, keep it unless the run is only read, and return all."""
    (found,) = each_judged([run], keep)
    return found


def each_judged(runs: Iterable[Run], keep: bool = True) -> Iterator[Judged]:
    """Judge runs in their order: the same processes judge all trials, and each run is kept when its own are judged."""
    rules = judging_digest()
    known = [_Known.of(run, rules) for run in runs]
    with closing(each_in_processes(_judge, [path for each in known for path in each.new], FEW)) as found:
        for each in known:
            yield _completed(each, list(islice(found, len(each.new))), keep)


def _completed(known: _Known, found: list[Found], keep: bool) -> Judged:
    run, keys, faults, fresh = known.run, known.keys, list(known.run.faults), []
    for path, of_trial in zip(known.new, found, strict=True):
        if isinstance(of_trial, str):
            faults.append(of_trial)
        else:
            fresh.append((keys[path], *of_trial))
    rows: dict[str, list[Mapping[str, Any]]] = {
        OUTCOMES: [{**row, "digest": key} for key, of_outcome, _ in fresh for row in of_outcome],
        TRIALS: [{**row, "digest": key} for key, _, row in fresh],
    }
    tables = {name: _merged(run, known.tables[name], _frame(name, rows[name]), set(keys.values())) for name in TABLES}
    for name, table in tables.items():
        if keep and not table.equals(known.tables[name]):
            _keep(run.path / name, table)
    return Judged(tables[OUTCOMES].drop("digest"), tables[TRIALS].drop("digest"), tuple(faults))


def _frame(name: str, rows: list[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema(TABLES[name].columns))


def _kept(file: Path) -> pl.DataFrame:
    """Return the stored table; an empty one where it is old, damaged or a stranger's: it can be computed again."""
    empty = _frame(file.name, [])
    if (content := seal.kept(file, MOST_BYTES)) is None:
        return empty
    try:
        table = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return empty
    return table if table.schema == empty.schema else empty


def _keep(file: Path, table: pl.DataFrame) -> None:
    """Keep it for the next time."""
    content = io.BytesIO()
    write_exact(table, content, TABLES[file.name])
    with suppress(OSError):  # of a lab that sealed nothing
        file.with_name(f"{file.name}.sha256").unlink()
    seal.keep(file, content.getvalue())


def _merged(run: Run, known: pl.DataFrame, fresh: pl.DataFrame, keys: set[str]) -> pl.DataFrame:
    """Rows of the trials that are there now, senders in the scenario's order."""
    order = {cca: number for number, cca in enumerate(run.scenario["ccas"])}
    now = pl.concat([known.filter(pl.col("digest").is_in(list(keys))), fresh])
    return now.sort(pl.col("cca").replace_strict(order, return_dtype=pl.Int64), "trial", maintain_order=True)


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
    made_from = [rules, *("".join(sorted(trial.digests[name])) for name in FILES)]
    return hashlib.sha256("\n".join(made_from).encode()).hexdigest()[:16]
