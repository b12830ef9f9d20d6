# SPDX-License-Identifier: GPL-2.0-or-later
"""Every experiment of the seeds by one command: what is stored already is not run again, and one cluster runs the rest.

Counterfactuals come last: they explain what the others gave. QUICK runs a tenth of the trials. A run is gone on with
only where nothing of what it asked for has changed; where something has, a new run begins, and the old one stays.
"""

import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab.base import paths, sandbox
from lab.base.errors import UserError
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.runs import campaign
from lab.runs.conduct import REFRESHES, How, prepare
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.trial import Job
from lab.schema.scenario import load_scenario, scenarios
from lab.tables.stored_run import Run

EXAMPLE = "geo"  # make experiment's: the first chapter, not a table of the seeds
QUICK_SHARE = 10
BOOT_S = 8.0  # virtual seconds that a trial's start costs as much as: `make bench-reproduce` measures it


@dataclass
class Part:
    """One scenario's run, and what is missing of it."""

    folder: Path
    jobs: list[Job]
    left: int
    failures: list[str]


def reproduce(names: list[str], quick: bool, asked: How, console: Console) -> list[str]:
    """Run what is missing of all scenarios; returns a line for each that could not be run to its end."""
    sandbox.require()
    kernel, world = prepare(Recipe(), console)
    faults: list[str] = []
    with ExitStack() as holding:
        parts: list[Part] = []
        for name in names or [name for name in scenarios() if name != EXAMPLE]:
            try:
                parts.append(_part(holding, _asked(name, quick), asked, kernel, world))
            except UserError as error:  # a recording that is not fetched, a run that another command holds
                faults.append(str(error))
        _run([part for part in parts if part.jobs], asked, console)
    return faults + [
        f"{part.folder}: {len(part.failures)} trials gave no result: {part.failures[0]}"
        for part in parts
        if part.failures
    ]


def _asked(name: str, quick: bool) -> Experiment:
    _, scenario = load_scenario(name)
    return load_experiment(name, {"trials": ceil(scenario.trials / QUICK_SHARE)} if quick else {})


def _part(holding: ExitStack, experiment: Experiment, asked: How, kernel: Kernel, world: Image) -> Part:
    folder = _stored(experiment, kernel) or _opened(experiment, asked, kernel, world)
    holding.enter_context(campaign.holding(folder))
    jobs = campaign.missing(experiment, folder, kernel, world, asked.keep_capture)
    if not jobs and not Run(folder).complete:
        campaign.finish(folder)
    return Part(folder, jobs, len(jobs), [])


def _stored(experiment: Experiment, kernel: Kernel) -> Path | None:
    """Find the newest run that asked for just this."""
    found = sorted((paths.results() / experiment.name).glob("[0-9]*/run.json"), reverse=True)
    for file in found:
        run = Run(file.parent)
        if campaign.same(run, experiment, kernel):
            return run.path
    return None


def _opened(experiment: Experiment, asked: How, kernel: Kernel, world: Image) -> Path:
    campaign.require_space(experiment, asked.workers, asked.keep_capture)
    return campaign.open_run(experiment, kernel, world, resume=False)


def _run(parts: list[Part], asked: How, console: Console) -> None:
    """Run all missing trials on one cluster, and finish each run as its last trial ends."""
    of = {job.folder.parent: part for part in parts for job in part.jobs}
    jobs = [job for part in parts for job in part.jobs]
    if not jobs:
        return
    tally: Counter[str] = Counter()
    begun_s = last_s = time.monotonic()
    with _bar(console) as progress, ExitStack() as cleared:
        for part in parts:
            cleared.callback(campaign.clear_drafts, part.folder)
        task = progress.add_task("trials", total=sum(map(_cost_s, jobs)), trials=f"0/{len(jobs)}")
        for job, outcome in campaign.run_jobs(jobs, asked.workers, asked.scheduler):
            part = of[job.folder.parent]
            tally.update(_tallied(part, job, outcome))
            now_s = time.monotonic()
            campaign.add_wall_s(part.folder, now_s - last_s)
            last_s = now_s
            if not part.left:
                _ended(part, console)
            progress.update(
                task,
                advance=_cost_s(job),
                trials=f"{tally['done']}/{len(jobs)}",
                description=f"{job.experiment.name}: {tally['valid']} valid, {tally['invalid']} invalid, "
                f"{tally['failed']} failed, {tally['virtual_s'] / (now_s - begun_s):.1f} virtual s/s",
            )


def _ended(part: Part, console: Console) -> None:
    """Say that a run is through, and mark it complete where no trial of it is missing."""
    if not part.failures:
        campaign.finish(part.folder)
    words = f", {len(part.failures)} without a result" if part.failures else ""
    name, base = part.folder.parent.name, part.jobs[0].experiment.scenario.counterfactual_of
    named = f"{name} (counterfactual of {base})" if base else name
    console.print(f"{named}: {len(part.jobs)} trials run{words}", soft_wrap=True, markup=False)


def _tallied(part: Part, job: Job, outcome: Any) -> dict[str, int]:
    part.left -= 1
    if isinstance(outcome, str):
        part.failures.append(f"{job.folder.name}: {outcome}")
        return {"done": 1, "failed": 1}
    kind = "valid" if outcome["certificate"]["valid"] else "invalid"
    return {"done": 1, kind: 1, "virtual_s": job.experiment.scenario.duration_s}


def _cost_s(job: Job) -> float:
    return BOOT_S + job.experiment.scenario.duration_s


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[trials]} trials"),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        console=console,
        refresh_per_second=REFRESHES,
    )
