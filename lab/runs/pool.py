# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials side by side, on a cluster: a few ahead of the workers, so that nothing grows with their number.

A worker that is lost costs its trial's time and no more: dask runs the trial again elsewhere.
"""

from asyncio import CancelledError
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import AbstractContextManager
from typing import Any

from distributed import Client, Future, as_completed
from polars.exceptions import PolarsError

from lab.backends.boot import TrialError
from lab.base.errors import UserError
from lab.runs import cluster
from lab.runs.trial import Job, run_trial
from lab.tables.trial_json import TrialJson

AHEAD = 2  # trials handed out for each worker, so that none waits for its next one
Result = TrialJson | str  # trial.json, or why there is none
Outcome = tuple[Job, Result]


def run_all(jobs: list[Job], workers: int, scheduler: str | None = None) -> Iterator[Outcome]:
    """Yield each job as it ends: on `workers` processes of this machine, or on those of a scheduler."""
    if not jobs:
        return
    where: AbstractContextManager[Client] = (
        cluster.remote(scheduler) if scheduler else cluster.local(min(workers, len(jobs)))
    )
    with where as client:
        if scheduler:
            cluster.same_files(client, [jobs[0].folder.parent, jobs[0].kernel.linux, jobs[0].world])
        yield from run_on(client, jobs, attempt)


def run_on(client: Client, jobs: list[Any], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (job, what work returned) as each ends; UserError where the scheduler goes away."""
    address = client.scheduler.address if client.scheduler else "?"
    try:
        yield from _as_they_end(client, jobs, work)
    except (OSError, CancelledError, futures.CancelledError):  # whichever call finds nobody there
        said = f"scheduler {address}: went away: the trials stored so far are whole; go on with --resume"
        raise UserError(said) from None


def _as_they_end(client: Client, jobs: list[Any], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    left = iter(jobs)
    running: dict[Any, Any] = {}

    def hand_out() -> Iterator["Future[Any]"]:
        for job in left:
            future = client.submit(work, job, pure=False)
            running[future.key] = job
            yield future
            if len(running) >= AHEAD * max(len(client.nthreads()), 1):
                return

    ended = as_completed(list(hand_out()), loop=client.loop)
    for future in ended:
        job = running.pop(future.key)
        yield job, _result(future)
        del future  # or the scheduler would keep its result
        for new in hand_out():
            ended.add(new)


def _result(future: "Future[Any]") -> Any:
    """Return what a task returned; a task of ours raises nothing, so that an error is the cluster's."""
    if future.status == "error":
        return f"cluster: {str(future.exception()).splitlines()[0]}"
    return future.result(timeout=cluster.ANSWER_S)


def attempt(job: Job) -> Result:
    """Run a trial; what went wrong is its line."""
    return _worded(run_trial, job)


def _worded(work: Callable[[Job], TrialJson], job: Job) -> Result:
    try:
        return work(job)
    except (TrialError, UserError) as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or job.folder}: {error.strerror}"
    except PolarsError as error:  # a table that could not be written
        return f"{job.folder}: {str(error).splitlines()[0]}"
