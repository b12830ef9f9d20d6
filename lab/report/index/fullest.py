# SPDX-License-Identifier: GPL-2.0-or-later
"""The run that stands for a scenario: the one with most valid trials, which a smaller run does not replace."""

from collections.abc import Iterator
from pathlib import Path

from lab.base.errors import UserError
from lab.judge.stored import LATEST, Stored
from lab.tables.stored_run import Run


def fullest(results: Path) -> tuple[list[Stored], list[str], list[str]]:
    """Return each scenario's fullest run, a line for each that cannot be read, and a line for each newer run."""
    found: list[Stored] = []
    faults: list[str] = []
    newer: list[str] = []
    for latest in sorted(results.glob(f"*/{LATEST}/run.json")):
        try:
            run = _fullest(latest.parent)
            found.append(Stored.of(run))
        except UserError as error:
            faults.append(str(error))
            continue
        if run.path != (newest := latest.parent.resolve()):
            newer.append(_newer(found[-1], newest))
    return found, faults, newer


def _fullest(latest: Path) -> Run:
    """Return a scenario's run with most valid trials; of equals, the newest."""
    newest = Run(latest.resolve())
    others = list(_others(newest.path))
    return max([*others, newest], key=lambda run: (_valid(run), run.path.name)) if others else newest


def _others(newest: Path) -> Iterator[Run]:
    """Yield the other whole runs with at least as many trials stored; one that cannot be read is left out."""
    stored = _trials(newest)
    for file in newest.parent.glob("[0-9]*/run.json"):
        run = Run(file.parent)
        try:
            if run.path != newest and _trials(run.path) >= stored and run.complete:
                yield run
        except UserError:
            continue


def _trials(run: Path) -> int:
    return len(list((run / "trials").glob("[!.]*/trial.json")))


def _valid(run: Run) -> int:
    return sum(trial.valid for trial in run.trials)


def _newer(shown: Stored, newest: Path) -> str:
    return (
        f"{shown.name}: its latest run, {newest.name}, has fewer valid trials ({_valid(Run(newest))}) than the run of "
        f"{shown.run.path.name} shown here ({_valid(shown.run)}); claims and chapters are of the latest"
    )
