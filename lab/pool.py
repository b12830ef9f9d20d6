# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials side by side: one worker process a core, each pinned to its own; none outlives the command."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from typing import Any

from polars.exceptions import PolarsError

from lab.errors import UserError
from lab.trial import Job, run_trial
from lab.virtual import TrialError

PR_SET_PDEATHSIG = 1
WAKE_S = 0.2
Result = dict[str, Any] | str  # trial.json, or why there is none
Outcome = tuple[Job, Result]


def run_all(jobs: list[Job], workers: int) -> Iterator[Outcome]:
    """Yield each job as it ends."""
    context = multiprocessing.get_context("spawn")
    counter: Synchronized[int] = context.Value("i", 0)
    with ProcessPoolExecutor(min(workers, len(jobs)) or 1, context, _begin, (counter,)) as pool:
        with _deaf():
            futures = {pool.submit(_attempt, job): job for job in jobs}
        try:
            for future in _as_they_end(set(futures)):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise UserError("a worker was killed: the trials stored so far are whole; go on with --resume") from None
        except BaseException:
            for child in multiprocessing.active_children():
                child.kill()
            raise


def _as_they_end(futures: set[Future[Result]]) -> Iterator[Future[Result]]:
    """Like as_completed, but awake now and then: polars has waits go on through a signal, and Ctrl-C would wait too."""
    while futures:
        done, futures = wait(futures, WAKE_S, FIRST_COMPLETED)
        yield from done


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes started here leave Ctrl-C to this one from their first instruction on; it is held back meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(counter: "Synchronized[int]") -> None:
    """Take a core, leave Ctrl-C to the parent, and die with it."""
    os.environ["POLARS_MAX_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    parent = multiprocessing.parent_process()
    if parent is None or os.getppid() != parent.pid:
        os._exit(1)  # it died before this one could ask to die with it
    with counter.get_lock():
        mine, counter.value = counter.value, counter.value + 1
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[mine % len(cores)]})


def _attempt(job: Job) -> Result:
    return _worded(run_trial, job)


def _worded(work: Callable[[Job], dict[str, Any]], job: Job) -> Result:
    try:
        return work(job)
    except (TrialError, UserError) as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or job.folder}: {error.strerror}"
    except PolarsError as error:  # a table that could not be written
        return f"{job.folder}: {str(error).splitlines()[0]}"
