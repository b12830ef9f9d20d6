# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials side by side: one worker process a core, each pinned to its own; none outlives the command."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from lab.errors import UserError
from lab.trial import Job, run_trial
from lab.virtual import TrialError

PR_SET_PDEATHSIG = 1
Outcome = tuple[Job, dict[str, Any] | str]  # trial.json, or why there is none


def run_all(jobs: list[Job], workers: int) -> Iterator[Outcome]:
    """Yield each job as it ends."""
    context = multiprocessing.get_context("spawn")
    counter: Synchronized[int] = context.Value("i", 0)
    with ProcessPoolExecutor(min(workers, len(jobs)) or 1, context, _begin, (counter,)) as pool:
        futures = {pool.submit(_attempt, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise UserError("a worker was killed: the trials stored so far are whole; go on with --resume") from None
        except BaseException:
            for child in multiprocessing.active_children():
                child.kill()
            raise


def _begin(counter: "Synchronized[int]") -> None:
    """Take a core, leave Ctrl-C to the parent, and die with it."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with counter.get_lock():
        mine, counter.value = counter.value, counter.value + 1
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[mine % len(cores)]})


def _attempt(job: Job) -> dict[str, Any] | str:
    return _worded(run_trial, job)


def _worded(work: Callable[[Job], dict[str, Any]], job: Job) -> dict[str, Any] | str:
    try:
        return work(job)
    except (TrialError, UserError) as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or job.folder}: {error.strerror}"
