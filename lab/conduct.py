# SPDX-License-Identifier: GPL-2.0-or-later
"""From a scenario's name to a shown result: say what will be done, build, run, report."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab import campaign, paths, sandbox
from lab.backends import choose, real
from lab.backends.choose import Choice
from lab.backends.place import Place
from lab.experiment import load_experiment
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.plan import Experiment
from lab.store.run import Run
from lab.world import image
from lab.world.image import Image

BUILD_STEPS = 1035  # lines of compiler output of the virtual kernel: only the bar depends on it
BUILD_MINUTES = 7
VIRTUAL_S_PER_S = 3.5  # of one core, with capture and tables: `lab bench` measures it


def conduct(
    name: str,
    overrides: dict[str, Any],
    jobs: int | None,
    resume: bool,
    recipe: Recipe,
    console: Console,
    choice: Choice | None = None,
) -> None:
    """Run a scenario from beginning to end, in the virtual kernel unless another place is chosen."""
    experiment = load_experiment(name, overrides)
    if choice and choice.backend != "virtual":
        _conduct_real(experiment, choice, resume, console)
        return
    workers = jobs or len(os.sched_getaffinity(0))
    sandbox.require()
    _announce(experiment, workers, recipe, console)
    kernel, world = prepare(recipe, console)
    campaign.require_space(experiment, workers)
    folder = campaign.open_run(experiment, kernel, world, resume)
    with campaign.holding(folder):
        failures = _run(experiment, folder, kernel, world, workers, console)
        if not failures:
            campaign.finish(folder)
    _conclude(folder, failures, kernel, console)


def _conclude(folder: Path, failures: list[str], kernel: Kernel | None, console: Console) -> None:
    """Report a run, or tell why it is not whole."""
    if failures:
        console.print(f"{len(failures)} trials gave no result: {failures[0]}", soft_wrap=True, markup=False)
        console.print(f"the others are stored in {folder}: go on with --resume", soft_wrap=True, markup=False)
        raise typer.Exit(1)
    report(folder, kernel, console)


def _conduct_real(experiment: Experiment, choice: Choice, resume: bool, console: Console) -> None:
    """Run a scenario in real time, one trial after the other."""
    console.print(f"{choice.line}: real time, one trial at a time; {choice.why}", soft_wrap=True, markup=False)
    place = choose.place(choice)
    with real.alone(place):
        seen = real.look(place, experiment)
        console.print(f"{seen.kernel.described['kernel_source']} on {seen.kernel.described['cpu']}", markup=False)
        campaign.require_space(experiment, 1)
        folder = campaign.open_run(experiment, seen.kernel, seen.world, resume, place)
        with campaign.holding(folder):
            failures = _run(experiment, folder, seen.kernel, seen.world, 1, console, place)
            if not failures:
                campaign.finish(folder)
    _conclude(folder, failures, build.find(), console)


def _announce(experiment: Experiment, workers: int, recipe: Recipe, console: Console) -> None:
    """Say what will be done, where, and how long it should take."""
    scenario = experiment.scenario
    count = scenario.trials * len(scenario.ccas)
    cached = build.find(recipe) is not None and image.find("world") is not None
    minutes = count * scenario.duration_s / VIRTUAL_S_PER_S / workers / 60 + (0 if cached else BUILD_MINUTES)
    lines = [
        f"backend virtual, engine netns: {recipe.label} as User Mode Linux in virtual time, the default that needs no "
        "VM and no root",
        scenario.question,
        f"{count} trials of {scenario.duration_s} s, {scenario.trials} of each sender ({', '.join(scenario.ccas)}), "
        f"on link {scenario.profile}, {workers} at once",
        f"{'kernel and world are cached' if cached else 'builds kernel and world first, once'}; "
        f"about {max(round(minutes), 1)} min in all",
        f"results in {paths.results() / experiment.name}, cache in {paths.cache()}",
    ]
    console.print("\n".join(lines), soft_wrap=True, markup=False)


def prepare(recipe: Recipe, console: Console) -> tuple[Kernel, Image]:
    """Return the kernel and the world, building what is not cached."""
    kernel, world = build.find(recipe), image.find("world")
    if kernel and world:
        return kernel, world
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


def _run(
    experiment: Experiment,
    folder: Path,
    kernel: Kernel,
    world: Image,
    workers: int,
    console: Console,
    place: Place | None = None,
) -> list[str]:
    """Run what is missing; returns why trials failed."""
    jobs = [replace(job, place=place) for job in campaign.missing(experiment, folder, kernel, world)]
    if not jobs:
        return []
    failures: list[str] = []
    started = time.monotonic()
    with _bar(console, "trials") as progress:
        task = progress.add_task("trials", total=len(jobs))
        for done, (job, outcome) in enumerate(campaign.run_missing(jobs, folder, workers), 1):
            if isinstance(outcome, str):
                failures.append(f"{job.folder.name}: {outcome}")
            virtual_s = done * experiment.scenario.duration_s
            speed = virtual_s / (time.monotonic() - started)
            progress.update(task, completed=done, description=f"trials, {virtual_s} virtual s ({speed:.1f} a second)")
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
    ) as progress:
        yield progress


def report(folder: Path, kernel: Kernel | None, console: Console) -> None:
    """Write every form of a run's report, and show the table; without a kernel some figures cannot be drawn."""
    from lab.report.text import shown
    from lab.report.write import write_report

    written = write_report(folder, kernel.replay_library if kernel else None)
    console.print(shown(written.headline, written.tables, console.width))
    for name, path in (
        ("page", written.paths.page),
        ("figures", written.paths.page.parent / "figures"),
        ("summary", written.paths.summary_csv),
        ("raw data", Run(folder).path / "trials"),
    ):
        console.print(f"{name:9} {path}", soft_wrap=True, markup=False)
