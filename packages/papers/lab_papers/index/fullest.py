# SPDX-License-Identifier: GPL-2.0-or-later
"""The run that stands for a scenario: the one with most valid trials, which a smaller run does not replace."""

from pathlib import Path

from lab.judge.stored import Stored, fullest_runs
from lab.tables.fullest_run import same_trials, valid_trials
from lab.tables.stored_run import Run


def fullest(results: Path) -> tuple[list[Stored], list[str], list[str]]:
    """Return each scenario's fullest run, a line for each that cannot be read, and a line for each newer run."""
    runs, faults = fullest_runs(results)
    found = list(Stored.each_of(runs.values()))
    with_newest = zip(found, (latest.resolve() for latest in runs), strict=True)
    return found, faults, [_newer(each, newest) for each, newest in with_newest if each.run.path != newest]


def _newer(shown: Stored, newest: Path) -> str:
    run = Run(newest)
    begin = f"{shown.name}: its latest run, {newest.name}, "
    end = f"the run of {shown.run.path.name} shown here"
    if not same_trials(run.scenario, shown.run.scenario):
        return f"{begin}has another link, duration, seed or senders than {end}"
    return f"{begin}has fewer valid trials ({valid_trials(run)}) than {end} ({valid_trials(shown.run)})"
