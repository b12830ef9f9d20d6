# SPDX-License-Identifier: GPL-2.0-or-later
"""From a scenario's name to a stored run: say what will be done, build, run."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab.backends import choose, guest_code, real
from lab.backends.choose import Choice
from lab.backends.place import Place
from lab.base import paths, sandbox
from lab.images import image
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.runs import campaign
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.plan import needed_modules
from lab.runs.pool import Result
from lab.runs.trial import Job

REFRESHES = 2  # a second, of a bar: ten of them took a twentieth of a core from the trials
BUILD_STEPS = 1035  # lines of compiler output of the virtual kernel: only the bar depends on it
BUILD_MINUTES = 7
VIRTUAL_S_PER_S = 3.5  # of one core, with capture and tables: `lab bench` measures it


class Tally:
    """How many trials are done, and how fast."""

    def __init__(self, duration_s: int) -> None:
        self.duration_s, self.begun_s = duration_s, time.monotonic()
        self.valid = self.invalid = self.failed = 0

    def add(self, outcome: Result) -> None:
        if isinstance(outcome, str):
            self.failed += 1
        elif outcome["certificate"]["valid"]:
            self.valid += 1
        else:
            self.invalid += 1

    def words(self) -> str:
        speed = (self.valid + self.invalid) * self.duration_s / (time.monotonic() - self.begun_s)
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.valid} valid, {self.invalid} invalid{failed}, {speed:.1f} virtual s/s"


@dataclass(frozen=True)
class How:
    """How trials are run, none of which changes a result."""

    workers: int
    scheduler: str | None = None
    keep_capture: bool = True
    choice: Choice | None = None  # else in the virtual kernel


def how(jobs: int | None, scheduler: str | None = None, keep_capture: bool = True, choice: Choice | None = None) -> How:
    """Take a worker for each core where nothing else is said."""
    return How(jobs or len(os.sched_getaffinity(0)), scheduler, keep_capture, choice)


def conduct(
    name: str, overrides: dict[str, Any], asked: How, resume: bool, recipe: Recipe, console: Console
) -> tuple[Path, list[str]]:
    """Run a scenario from beginning to end; returns the run's folder and why trials failed."""
    experiment = load_experiment(name, overrides)
    if asked.choice and asked.choice.backend != "virtual":
        return _conduct_real(experiment, asked, asked.choice, resume, console)
    sandbox.require()
    _announce(experiment, asked, recipe, console)
    kernel, world = prepare(recipe, console)
    folder, failures = run(experiment, asked, resume, kernel, world, console)
    return folder, failures


def run(
    experiment: Experiment,
    asked: How,
    resume: bool,
    kernel: Kernel,
    world: Image,
    console: Console,
    place: Place | None = None,
) -> tuple[Path, list[str]]:
    """Run what is missing of a scenario; returns the run's folder and why trials failed."""
    campaign.require_space(experiment, asked.workers, asked.keep_capture)
    folder = campaign.open_run(experiment, kernel, world, resume, place)
    with campaign.holding(folder):
        missing = campaign.missing(experiment, folder, kernel, world, asked.keep_capture)
        jobs = [replace(job, place=place) for job in missing]
        with campaign.timed(folder):
            failures = _run(jobs, folder, asked, console) if jobs else []
        if not failures:
            campaign.finish(folder)
    return folder, failures


def _conduct_real(
    experiment: Experiment, asked: How, choice: Choice, resume: bool, console: Console
) -> tuple[Path, list[str]]:
    """Run a scenario in real time, one trial after the other."""
    console.print(f"{choice.line}: real time, one trial at a time; {choice.why}", soft_wrap=True, markup=False)
    place = choose.place(choice)
    with real.alone(place):
        seen = real.look(place, needed_modules(experiment))
        console.print(f"{seen.kernel.described['kernel_source']} on {seen.kernel.described['cpu']}", markup=False)
        one = replace(asked, workers=1)
        try:
            folder, failures = run(experiment, one, resume, seen.kernel, seen.world, console, place)
        except KeyboardInterrupt:
            console.print("taking down what the trial made; a second Ctrl-C leaves it to 'lab clean'", markup=False)
            real.settle(place)
            raise
    return folder, failures


def _announce(experiment: Experiment, asked: How, recipe: Recipe, console: Console) -> None:
    """Say what will be done, where, and how long it should take."""
    scenario = experiment.scenario
    count = scenario.trials * len(scenario.ccas)
    cached = build.find(recipe) is not None and image.find("world") is not None
    minutes = count * scenario.duration_s / VIRTUAL_S_PER_S / asked.workers / 60 + (0 if cached else BUILD_MINUTES)
    lines = [
        f"backend virtual, engine netns: {recipe.label} as User Mode Linux in virtual time, the default that needs no "
        "VM and no root",
        scenario.question,
        f"{count} trials of {scenario.duration_s} s, {scenario.trials} of each sender ({', '.join(scenario.ccas)}), "
        f"on link {scenario.profile}, {asked.scheduler or f'{asked.workers} at once'}",
        f"{'kernel and world are cached' if cached else 'builds kernel and world first, once'}; "
        f"about {max(round(minutes), 1)} min in all",
        f"results in {paths.results() / experiment.name}, cache in {paths.cache()}",
    ]
    console.print("\n".join(lines), soft_wrap=True, markup=False)


def prepare(recipe: Recipe, console: Console) -> tuple[Kernel, Image]:
    """Return the kernel and the world, building what is not cached."""
    kernel, world = build.find(recipe), image.find("world")
    if not (kernel and world):
        kernel, world = _build(recipe, console)
    guest_code.ensure(world.root)
    return kernel, world


def _build(recipe: Recipe, console: Console) -> tuple[Kernel, Image]:
    with _bar(console, "steps") as progress:
        task = progress.add_task("world image", total=None)
        world = image.ensure("world")
        progress.update(task, description="build image")
        image.ensure("builder")
        progress.update(task, description="kernel", total=BUILD_STEPS)
        kernel = build.ensure(recipe, lambda steps: progress.update(task, completed=min(steps, BUILD_STEPS)))
        progress.update(task, completed=BUILD_STEPS)
    for package, drift in world.drifted.items():
        console.print(f"world: {package}: {drift}: the archive no longer has the pinned version", markup=False)
    return kernel, world


def _run(jobs: list[Job], folder: Path, asked: How, console: Console) -> list[str]:
    """Run trials and show how far they are; returns why some failed."""
    failures: list[str] = []
    tally = Tally(jobs[0].experiment.scenario.duration_s)
    with _bar(console, "trials") as progress:
        task = progress.add_task("trials", total=len(jobs))
        for job, outcome in campaign.run_missing(jobs, folder, asked.workers, asked.scheduler):
            if isinstance(outcome, str):
                failures.append(f"{job.folder.name}: {outcome}")
            tally.add(outcome)
            progress.update(task, advance=1, description=tally.words())
    return failures


@contextmanager
def _bar(console: Console, unit: str) -> Iterator[Progress]:
    with Progress(
        TextColumn("{task.description:<38}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        console=console,
        refresh_per_second=REFRESHES,
    ) as progress:
        yield progress
