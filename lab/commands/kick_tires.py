# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab kick-tires`: one trial over each kind of link, and one page of what came out."""

from pathlib import Path

import typer
from rich.console import Console

from lab.base import paths
from lab.base.plain_file import write_whole
from lab.commands.prepare import prepare
from lab.commands.progress import TrialBar
from lab.judge.stored import Stored
from lab.kernel.recipe import Recipe
from lab.report.artifact.tires import render, row
from lab.runs.execute import OpenRun, execute
from lab.runs.experiment import Experiment
from lab.runs.find_run import none
from lab.runs.options import RunOptions
from lab.runs.try_link import try_link
from lab.tables.stored_run import Run

SENDER = "search"
# One link of each kind, without a recording, and the virtual seconds in which SEARCH leaves slow start there.
LINKS = {"geo-viasat": 20, "leo-starlink": 8, "lte-hotspot": 10, "wifi-strong": 5, "wifi-weak": 5, "wired-clean": 5}
PAGE = "kick-tires.html"


def kick(options: RunOptions, console: Console) -> None:
    """Run the trials and write the page; exit status 1 where a trial has no result, or no valid one."""
    experiments = [_experiment(profile, duration_s) for profile, duration_s in LINKS.items()]
    backend = prepare(Recipe(), console)
    with TrialBar(console, many_runs=True) as bar:
        executed = execute(experiments, none, backend.site, options, bar)
    for line in (*executed.refusals, *(failure for run in executed.runs for failure in run.failures)):
        console.print(str(line), soft_wrap=True, markup=False)
    rows = [row(_stored(run)) for run in executed.runs if not run.failures]
    for each in rows:
        console.print(each.line, soft_wrap=True, markup=False)
    file = write_whole(_folder() / PAGE, render(rows))
    console.print(f"page      {file}", soft_wrap=True, markup=False)
    if len(rows) < len(LINKS) or not all(each.valid for each in rows):
        raise typer.Exit(1)


def _experiment(profile: str, duration_s: int) -> Experiment:
    return try_link(profile, [SENDER], {"trials": 1, "duration_s": duration_s})


def _stored(run: OpenRun) -> Stored:
    return Stored.of(Run(run.folder))


def _folder() -> Path:
    paths.results().mkdir(parents=True, exist_ok=True)
    return paths.results()
