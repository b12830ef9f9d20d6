# SPDX-License-Identifier: GPL-2.0-or-later
"""The run that stands for a scenario: the one with most valid trials, which a smaller run does not replace."""

from pathlib import Path

from lab.base.errors import UserError
from lab.judge.stored import LATEST, Stored
from lab.tables.fullest_run import fullest_run, same_trials, valid_trials
from lab.tables.stored_run import Run


def fullest(results: Path) -> tuple[list[Stored], list[str], list[str]]:
    """Return each scenario's fullest run, a line for each that cannot be read, and a line for each newer run."""
    found: list[Stored] = []
    faults: list[str] = []
    newer: list[str] = []
    for latest in sorted(results.glob(f"*/{LATEST}/run.json")):
        try:
            run = fullest_run(latest.parent)
            found.append(Stored.of(run))
        except UserError as error:
            faults.append(str(error))
            continue
        if run.path != (newest := latest.parent.resolve()):
            newer.append(_newer(found[-1], newest))
    return found, faults, newer


def _newer(shown: Stored, newest: Path) -> str:
    run = Run(newest)
    begin = f"{shown.name}: its latest run, {newest.name}, "
    end = f"the run of {shown.run.path.name} shown here"
    if not same_trials(run.scenario, shown.run.scenario):
        return f"{begin}has another link, duration, seed or senders than {end}"
    return f"{begin}has fewer valid trials ({valid_trials(run)}) than {end} ({valid_trials(shown.run)})"
