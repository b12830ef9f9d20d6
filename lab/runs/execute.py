# SPDX-License-Identifier: GPL-2.0-or-later
"""The one path that runs trials: open a run per experiment, run all missing trials, finish each run at its last trial.

`lab run` executes one experiment, `lab reproduce` many. Nothing here prints: an observer receives the progress.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lab.backends.backend import Site
from lab.base import paths
from lab.base.errors import UserError
from lab.runs import run_folder
from lab.runs.experiment import Experiment
from lab.runs.find_run import FindRun
from lab.runs.missing import missing_trials, require_possible, require_space
from lab.runs.options import RunOptions
from lab.runs.pool import Result, require_cluster, run_jobs
from lab.runs.trial import Job
from lab.tables.stored_run import Run


@dataclass
class OpenRun:
    """A run whose folder is locked: its missing trials, and what became of them."""

    experiment: Experiment
    folder: Path
    jobs: list[Job]
    left_out: int  # missing trials that are not wanted
    ended: int = 0
    failures: list[str] = field(default_factory=list)  # one line per trial without a result
    wall_s: float = 0.0

    @property
    def has_ended(self) -> bool:
        return self.ended == len(self.jobs)

    @property
    def is_complete(self) -> bool:
        """Return whether each trial of the run has a result, once it has ended."""
        return not self.failures and not self.left_out


@dataclass(frozen=True)
class Executed:
    """The runs, and the reason in one line for each experiment without one."""

    runs: list[OpenRun]
    refusals: list[UserError]


class Observer(Protocol):
    """Receives the progress of trials."""

    def begin(self, jobs: list[Job]) -> None:
        """Receive all missing trials before the first one starts."""

    def trial_ended(self, job: Job, result: Result) -> None:
        """Receive the result of a trial."""

    def run_ended(self, run: OpenRun) -> None:
        """Receive a run after its last trial."""


Wanted = Callable[[Job], bool]


def every(_job: Job) -> bool:
    """Want each missing trial."""
    return True


def execute(
    experiments: Iterable[Experiment],
    find_run: FindRun,
    site: Site,
    options: RunOptions,
    observer: Observer,
    wanted: Wanted = every,
    alone: bool = False,
) -> Executed:
    """Run the missing trials of all experiments; one that is refused stops all before any trial, or itself if `alone`.

    A run stays unfinished while a missing trial is not wanted.
    """
    executed, possible = Executed([], []), []
    if options.scheduler:  # before a run's folder is there
        require_cluster(options.scheduler, paths.results(), site.backend.required_files)
    for experiment in experiments:
        with _refusing(executed, alone):
            require_possible(experiment, site.backend, options)
            possible.append(experiment)
    with ExitStack() as locks:
        for experiment in possible:
            with _refusing(executed, alone):  # another command runs it, or the disk is too small
                executed.runs.append(_open(locks, experiment, find_run, site, options, wanted))
        _run_trials([run for run in executed.runs if run.jobs], options, observer)
    return executed


@contextmanager
def _refusing(executed: Executed, alone: bool) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        if not alone:
            raise
        executed.refusals.append(error)


def _open(
    locks: ExitStack, experiment: Experiment, find_run: FindRun, site: Site, options: RunOptions, wanted: Wanted
) -> OpenRun:
    """Create or find the run's folder, lock it, and list its missing trials."""
    stored = find_run(experiment, site)
    if stored is None:
        trials = experiment.scenario.trials * len(experiment.scenario.ccas)
        require_space(experiment, trials, site.backend, options)
    folder = stored or run_folder.create(experiment, site)
    locks.enter_context(run_folder.locked(folder))
    missing = missing_trials(experiment, folder, site.backend, options)
    jobs = [job for job in missing if wanted(job)]
    if stored and jobs:
        require_space(experiment, len(jobs), site.backend, options)
    if not missing and not Run(folder).complete:
        run_folder.close(folder, wall_s=0.0, complete=True)
    return OpenRun(experiment, folder, jobs, left_out=len(missing) - len(jobs))


def _run_trials(runs: list[OpenRun], options: RunOptions, observer: Observer) -> None:
    """Run all missing trials on one pool; wall time counts for the run whose trial ended."""
    run_of = {job.folder: run for run in runs for job in run.jobs}
    jobs = [job for run in runs for job in run.jobs]
    if not jobs:
        return
    observer.begin(jobs)
    last_s = time.monotonic()
    try:
        with closing(run_jobs(jobs, options)) as outcomes:
            for job, result in outcomes:
                run, now_s = run_of[job.folder], time.monotonic()
                run.wall_s, last_s = run.wall_s + now_s - last_s, now_s
                _add(run, job, result)
                observer.trial_ended(job, result)
                if run.has_ended:
                    run_folder.close(run.folder, run.wall_s, complete=run.is_complete)
                    observer.run_ended(run)
    finally:
        interrupted = [run for run in runs if not run.has_ended]
        for run in interrupted:
            run.wall_s += (time.monotonic() - last_s) / len(interrupted)
            run_folder.close(run.folder, run.wall_s, complete=False)


def _add(run: OpenRun, job: Job, result: Result) -> None:
    run.ended += 1
    if isinstance(result, str):
        run.failures.append(f"{job.folder.name}: {result}")
