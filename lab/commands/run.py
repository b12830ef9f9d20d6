# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab run`: from a scenario, or from a profile and senders, to a report."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from lab.backends.backend import Site
from lab.backends.choose import Choice, choose, running
from lab.backends.virtual import Virtual, find_built
from lab.base import paths, sandbox_mode
from lab.base.choice import USUAL_CCAS, names
from lab.base.errors import COMMAND_LINE, UserError, field_error, going_on
from lab.base.format import trials_text
from lab.base.workers import one_pool
from lab.commands.cli_options import resumed_command
from lab.commands.lines import say
from lab.commands.prepare import build as build_kernel
from lab.commands.prepare import prepared, refuse
from lab.commands.progress import TrialBar
from lab.commands.report import report
from lab.kernel.recipe import Recipe
from lab.links.tc_alone import REPLAY
from lab.runs import estimate, find_run, requesting
from lab.runs.execute import Executed, OpenRun, execute
from lab.runs.experiment import Experiment, load_experiment, shaped_by, try_link
from lab.runs.options import RunOptions
from lab.runs.plan import needed_modules
from lab.tables.stored_run import Run

BUILD_MINUTES = 7


@dataclass(frozen=True)
class Request:
    """What to run: a scenario, or senders over a profile."""

    scenario: str | None = None
    profile: str | None = None
    ccas: str | None = None  # names with commas between them
    topology: str | None = None
    overrides: dict[str, Any] | None = None  # of the scenario's fields; None: no override
    shaper: str = REPLAY  # what replays the link

    def experiment(self) -> Experiment:
        """Load it; UserError if the arguments do not fit each other."""
        overrides = self.overrides or {}
        if self.profile is None:
            for name, value in (("cca", self.ccas), ("topology", self.topology)):
                if value is not None:
                    raise field_error(COMMAND_LINE, name, value, "used with --profile, not with a scenario")
            if self.scenario is None:
                raise UserError(f"{COMMAND_LINE}: must name a scenario (see 'lab list'), or --profile")
            return shaped_by(load_experiment(self.scenario, overrides), self.shaper)
        if self.scenario is not None:
            raise field_error(COMMAND_LINE, "profile", self.profile, f"absent with a scenario ({self.scenario})")
        ccas = USUAL_CCAS if self.ccas is None else self.ccas
        return shaped_by(try_link(self.profile, names(ccas), overrides | {"topology": self.topology}), self.shaper)


@dataclass(frozen=True)
class Where:
    """Where to run it: backend and engine, and the virtual kernel's recipe."""

    backend: str | None
    engine: str | None
    recipe: Recipe


def run(
    request: Request,
    where: Where,
    options: RunOptions,
    resume: bool,
    console: Console,
    forms: Sequence[str] = (),
    verbose: bool = False,
) -> None:
    """Run an experiment and report it, as `lab report` does; exit status 1 if a trial has no result or is invalid."""
    choice = choose(where.backend, where.engine)
    experiment = request.experiment()
    if experiment.topology.note:
        say(console, experiment.topology.note)
    older = set() if resume else set(_runs(experiment))
    with going_on(partial(_going_on, experiment, older)), one_pool():
        if choice.backend == "virtual":
            found = _virtual(experiment, where.recipe, options, console)
            experiment, backend = prepared(experiment, found, console)
            executed = _execute(experiment, backend.site, options, resume, console)
        else:
            refuse(experiment.ccas, choice.backend)
            requesting.refuse_real_time(experiment, choice.backend)
            options = _one_at_a_time(choice, options)
            with running()[choice.backend].site(choice, needed_modules(experiment), console) as site:
                executed = _execute(experiment, site, options, resume, console)
        for stored in executed.runs:
            require_results(stored, console)
            report(stored.folder, console, forms, verbose)
            if not all(trial.valid for trial in Run(stored.folder).trials):
                raise typer.Exit(1)


def _execute(experiment: Experiment, site: Site, options: RunOptions, resume: bool, console: Console) -> Executed:
    with TrialBar(console, many_runs=False) as bar:
        return execute([experiment], find_run.unfinished if resume else find_run.none, site, options, bar)


def _runs(experiment: Experiment) -> list[Path]:
    return [file.parent for file in (paths.results() / experiment.name).glob("[0-9]*/run.json")]


def _going_on(experiment: Experiment, older: set[Path]) -> str | None:
    """Return the command that goes on, if a run was begun: a run that has all trials only lacks its report."""
    if (newest := max(set(_runs(experiment)) - older, default=None)) is None:
        return None
    return shlex.join(["lab", "report", str(newest)]) if Run(newest).complete else resumed_command()


def require_results(stored: OpenRun, console: Console) -> None:
    """Print why trials gave no result; exit status 1 where there are such."""
    if failures := stored.failures:
        console.print(
            f"{trials_text(len(failures))} gave no result: 'lab log RUN TRIAL' shows a kernel's log", markup=False
        )
        say(console, *failures)
        others = "the others are" if Run(stored.folder).trials else "no trial is"
        say(console, f"{others} stored in {stored.folder}: go on with --resume")
        raise typer.Exit(1)


def _one_at_a_time(choice: Choice, options: RunOptions) -> RunOptions:
    """Real time allows one trial at a time, started from this machine."""
    if options.scheduler:
        rule = f"absent with backend {choice.backend}: real time allows one trial at a time"
        raise field_error(COMMAND_LINE, "scheduler", options.scheduler, rule)
    return replace(options, workers=1)


def _virtual(experiment: Experiment, recipe: Recipe, options: RunOptions, console: Console) -> Virtual:
    """Print what will be done, and return the backend; build what the cache does not have."""
    protection = sandbox_mode.less()
    found = find_built(recipe)
    _announce(experiment, options, recipe, found is not None, console)
    if protection:
        say(console, protection)
    return found or build_kernel(recipe, console)


def _announce(experiment: Experiment, options: RunOptions, recipe: Recipe, cached: bool, console: Console) -> None:
    """Print what will be done, where, and how long it should take."""
    scenario = experiment.scenario
    count = scenario.trials * len(scenario.ccas)
    minutes = estimate.minutes(experiment.name, count, scenario.duration_s, options.workers)
    by_tc = "" if experiment.shaper == REPLAY else " by netem and tbf alone"
    lines = [
        f"backend virtual, engine netns: {recipe.label} as User Mode Linux in virtual time, the default that needs no "
        "VM and no root",
        scenario.question,
        f"{count} {'trial' if count == 1 else 'trials'} of {scenario.duration_s} s, {scenario.trials} of each sender "
        f"({', '.join(scenario.ccas)}), on link {scenario.profile}{by_tc}, "
        f"{options.scheduler or f'{options.workers} at once'}",
        f"{'kernel and world are cached' if cached else 'builds kernel and world first, once'}; "
        f"{estimate.about(minutes + (0 if cached else BUILD_MINUTES))} in all",
        f"results in {paths.results() / experiment.name}, cache in {paths.cache()}",
    ]
    for line in lines:
        say(console, line)
