# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials side by side: on processes of this machine, or on a cluster."""

from collections.abc import Callable, Generator
from contextlib import closing, suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from lab.backends.records import TrialError
from lab.base.entry_points import loaded
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.workers import results_or_lines
from lab.runs import one_boot
from lab.runs.options import RunOptions
from lab.runs.trial import Job, run_trial
from lab.tables.trial_json import TrialJson

Result = TrialJson | str  # trial.json, or the reason for none
Outcome = tuple[Job, Result]


def run_jobs(jobs: list[Job], options: RunOptions) -> Generator[Outcome]:
    """Yield (job, result) as each trial ends."""
    if jobs and options.scheduler:
        files = [jobs[0].folder.parent, *jobs[0].backend.required_files]
        yield from _cluster(options.scheduler).run(options.scheduler, jobs, files, attempt)
    elif jobs:
        yield from run_boots(one_boot.divided(jobs, options.workers), options.workers)


def run_boots(boots: list[list[Job]], at_once: int) -> Generator[Outcome]:
    """Yield (job, result) as each boot ends."""
    with closing(results_or_lines(attempt_in_turn, boots, at_once)) as ended:
        for boot, results in ended:
            yield from zip(boot, [results] * len(boot) if isinstance(results, str) else results, strict=True)


def require_cluster(scheduler: str, results: Path, files: list[Path]) -> None:
    """Refuse a scheduler that does not reply, and workers without the results' folder or the files of a trial."""
    _cluster(scheduler).require(scheduler, results, files)


def _cluster(scheduler: str) -> Any:
    """Return the package's module that reaches schedulers."""
    for found in loaded("lab.scheduler").values():
        return found
    raise field_error(COMMAND_LINE, "scheduler", scheduler, "used with packages/cluster, which is not here")


def attempt_in_turn(boot: list[Job]) -> list[Result]:
    """Run trials in one boot, and alone those that give no result in it."""
    if len(boot) == 1:
        return [attempt(boot[0])]
    found: list[TrialJson | None] = []
    with suppress(UserError, OSError, PolarsError):  # a trial alone states its own reason
        found.extend(one_boot.run(boot))
    return [result or attempt(job) for job, result in zip_longest(boot, found)]


def attempt(job: Job) -> Result:
    """Run a trial; return the reason in one line if it fails."""
    return line_if_failed(run_trial, job)


def line_if_failed(work: Callable[[Job], TrialJson], job: Job) -> Result:
    """Return the result of work, or its error in one line."""
    try:
        return work(job)
    except (TrialError, UserError) as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or job.folder}: {error.strerror}"
    except PolarsError as error:  # a table that could not be written
        return f"{job.folder}: {str(error).splitlines()[0]}"
