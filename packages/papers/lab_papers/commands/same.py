# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab same`: SAME or DIFFERENT, trial by trial, against the reference in the repository."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import typer
from lab_compare.stand_ins import unfetched
from rich.console import Console

from lab.backends.backend import Description
from lab.backends.virtual import Virtual
from lab.base import sandbox_mode
from lab.base.errors import COMMAND_LINE, UserError, field_error, going_on
from lab.base.scratch import scratch_folder
from lab.commands.lines import say
from lab.commands.prepare import prepare
from lab.commands.progress import TrialBar
from lab.kernel.recipe import Recipe
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.runs.pool import run_jobs
from lab.runs.trial import Job
from lab.tables.stored_trial import Trial
from lab_papers.same import reference, trials
from lab_papers.same.reference import Values, values_of

SHOWN = 5  # trials whose difference is printed in full


@dataclass(frozen=True)
class SameRequest:
    """What to do with which trials."""

    update: bool = False  # make them the reference, instead of comparing them
    only: tuple[str, ...] = ("*",)  # patterns of trials' names, as a shell has them

    def __post_init__(self) -> None:
        """Refuse a reference of some trials only."""
        if self.update and self.only != ("*",):
            raise field_error(COMMAND_LINE, "only", ",".join(self.only), "absent with --update")

    def wants(self, name: str) -> bool:
        """Return whether a trial is one of them."""
        return any(fnmatchcase(name, pattern) for pattern in self.only)

    def wants_some(self, run: str) -> bool:
        """Return whether some trial of a run may be one of them."""
        return any(fnmatchcase(run, pattern.split("/")[0]) for pattern in self.only)


class Verdict(NamedTuple):
    """The result of a comparison, as a sentence."""

    same: bool
    text: str


def same(request: SameRequest, options: RunOptions, console: Console) -> None:
    """Run the trials and compare them, or make them the reference; exit status 1 if one differs."""
    if not request.update:
        if not judged(request, options, console).same:
            raise typer.Exit(1)
        return
    reference.require_clean()
    experiments, _ = ready_runs(list(trials.experiments()), request, console)
    backend, found = _found(request, experiments, options, console)
    reference.write(found, backend.site.description)
    console.print(f"{reference.FOLDER}: {len(found)} trials", markup=False)


def judged(request: SameRequest, options: RunOptions, console: Console) -> Verdict:
    """Run the trials whose recordings are there, and compare them with the reference."""
    stored = reference.read()
    experiments, left_out = ready_runs(list(trials.experiments()), request, console)
    backend, found = _found(request, experiments, options, console)
    return compare_all(found, wanted(stored, request, left_out), backend.site.description, console)


def _found(
    request: SameRequest, experiments: list[Experiment], options: RunOptions, console: Console
) -> tuple[Virtual, dict[str, Values]]:
    backend = prepare(Recipe(), console)
    console.print(f"sandbox {sandbox_mode.described()}, {options.workers} at once", markup=False)
    with going_on(lambda: "lab same --update" if request.update else "lab same"):
        return backend, _run(request, experiments, backend, options, console)


def ready_runs(
    experiments: list[Experiment], request: SameRequest, console: Console
) -> tuple[list[Experiment], frozenset[str]]:
    """Return the experiments whose recordings are fetched and the names of the others, each of which prints a line."""
    lacking = {each.name: files for each in experiments if (files := " ".join(file.name for file in unfetched(each)))}
    if lacking and request.update:
        raise UserError(f"reference: must be of every trial: lab traces fetch {' '.join(lacking.values())}")
    for name, files in lacking.items():
        if request.wants_some(name):
            line = f"not run: {name}: its recording is not fetched: lab traces fetch {files}"
            say(console, line)
    ready = [each for each in experiments if each.name not in lacking]
    if any(map(request.wants_some, lacking)) and not any(request.wants_some(each.name) for each in ready):
        raise UserError("lab same: no recording of these trials is fetched: lab traces fetch --all")
    return ready, frozenset(lacking)


def wanted(
    stored: reference.Reference, request: SameRequest, left_out: frozenset[str] = frozenset()
) -> reference.Reference:
    """Return a reference of the wanted trials only, without those of the runs that are left out."""
    kept = {
        name: trial
        for name, trial in stored.content["trials"].items()
        if request.wants(name) and name.split("/")[0] not in left_out
    }
    return reference.Reference({**stored.content, "trials": kept}, stored.packets)


def _wanted_jobs(request: SameRequest, jobs: Iterable[Job]) -> list[Job]:
    found = [job for job in jobs if request.wants(trials.name_of(job))]
    if not found:
        rule = "patterns of trials that reference/same.json names, such as 'senders/search*'"
        raise field_error(COMMAND_LINE, "only", ",".join(request.only), rule)
    return found


def _run(
    request: SameRequest, experiments: list[Experiment], backend: Virtual, options: RunOptions, console: Console
) -> dict[str, Values]:
    """Run every wanted trial; what is compared of it is kept, and its folder is removed."""
    with scratch_folder() as folder, TrialBar(console, many_runs=False) as bar:
        jobs = _wanted_jobs(request, trials.jobs(backend, folder, experiments))
        found: dict[str, Values] = {}
        bar.begin(jobs)
        for job, result in run_jobs(jobs, options):
            if isinstance(result, str):
                raise UserError(f"{trials.name_of(job)}: {result}")
            found[trials.name_of(job)] = _values(job.folder)
            bar.trial_ended(job, result)
        return {trials.name_of(job): found[trials.name_of(job)] for job in jobs}


def _values(folder: Path) -> Values:
    values = values_of(Trial(folder))
    shutil.rmtree(folder)
    return values


def compare_all(
    found: dict[str, Values], stored: reference.Reference, description: Description, console: Console
) -> Verdict:
    """Print each trial that differs, then the verdict, and return it."""
    lines = {name: reference.difference(name, values, stored) for name, values in found.items()}
    different = {name: texts for name, texts in lines.items() if texts}
    absent = sorted(set(stored.content["trials"]) - set(found))
    for number, (name, texts) in enumerate(different.items()):
        for text in texts if number < SHOWN else texts[:1]:
            say(console, f"DIFFERENT  {name}: {text}")
    for name in absent:
        say(console, f"MISSING    {name}: no such trial here")
    commit = stored.content["commit"][:12]
    if not different and not absent:
        return _printed(Verdict(True, f"SAME: {len(found)} trials have the packets and tables of {commit}"), console)
    surroundings = list(reference.surroundings(description, stored))
    for text in surroundings or ["kernel, modules and world are the reference's: the difference is elsewhere"]:
        say(console, text)
    return _printed(Verdict(False, f"DIFFERENT: {len(different)} of {len(found)} trials from {commit}"), console)


def _printed(verdict: Verdict, console: Console) -> Verdict:
    console.print(verdict.text, markup=False)
    return verdict
