# SPDX-License-Identifier: GPL-2.0-or-later
"""Worker processes of this machine: one job at a time each, pinned to one processor, connected by a pipe.

No socket listens, so no other user can reach a worker. A worker dies with the command: the kernel kills it when the
command ends in any way (PR_SET_PDEATHSIG), and the pool kills it when the block that uses the pool ends. A job whose
worker is lost runs again on a new one.

concurrent.futures.ProcessPoolExecutor does not serve: it gives up all jobs when one worker is lost, it waits for the
running jobs when it is interrupted, and its workers outlive a killed command.
"""

import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from lab.base.paths import REPO
from lab.base.processes import end_with_parent, next_processor, sigint_blocked

MAX_LOSSES = 3  # of workers by one job, before the job counts as failed
JOIN_S = 5
ENVIRONMENT = {"POLARS_MAX_THREADS": "1"}  # read when a worker imports polars
SPAWN = get_context("spawn")
Work = Callable[[Any], Any]


class Task(NamedTuple):
    """A job, and how many workers were lost with it."""

    job: Any
    losses: int = 0


class Worker:
    """One process that runs jobs."""

    def __init__(self, work: Work, core: int) -> None:
        self.core = core
        self.task: Task | None = None
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs, work, core, os.getpid()), daemon=True)
        with sigint_blocked(), _environment(ENVIRONMENT):
            self.process.start()
        theirs.close()

    def submit(self, task: Task) -> None:
        """Send a task to the process; if the process is dead already, the next `result` raises EOFError."""
        self.task = task
        with suppress(ConnectionError):
            self.pipe.send(task.job)

    def result(self) -> Any:
        """Return the task's result; EOFError if the process is dead."""
        try:
            return self.pipe.recv()
        except ConnectionResetError:
            raise EOFError from None

    def kill(self) -> None:
        """End the process without waiting for its job."""
        self.process.kill()

    def close(self) -> None:
        """Collect the killed process."""
        self.process.join(JOIN_S)
        self.pipe.close()


class Pool:
    """Workers that run jobs side by side."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._workers: list[Worker] = []

    def start(self, count: int) -> None:
        """Start workers, on one processor after the other."""
        self._workers += [Worker(self._work, next_processor()) for _ in range(count)]

    @property
    def pids(self) -> list[int]:
        """Return the process identifiers of the workers."""
        return [worker.process.pid for worker in self._workers if worker.process.pid]

    def run(self, jobs: list[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield (job, result) as each job ends; the result is a line of text if the job failed."""
        waiting = deque(Task(job) for job in jobs)
        for worker in self._workers[: len(jobs)]:
            worker.submit(waiting.popleft())
        while busy := {worker.pipe: worker for worker in self._workers if worker.task}:
            for pipe in connection.wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                assert worker.task
                task, worker.task = worker.task, None
                try:
                    result = worker.result()
                except EOFError:
                    worker = self._replace(worker)
                    if task.losses + 1 < MAX_LOSSES:
                        worker.submit(Task(task.job, task.losses + 1))
                        continue
                    result = f"worker: killed {MAX_LOSSES} times during this trial: see 'dmesg' for lack of memory"
                if waiting:
                    worker.submit(waiting.popleft())
                yield task.job, result

    def kill(self) -> None:
        """End all workers at once."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.close()

    def _replace(self, lost: Worker) -> Worker:
        lost.close()
        new = Worker(self._work, lost.core)
        self._workers[self._workers.index(lost)] = new
        return new


@contextmanager
def processes(work: Work, count: int) -> Iterator[Pool]:
    """Start workers, and kill them when the block ends in any way."""
    pool = Pool(work)
    try:
        pool.start(count)
        yield pool
    finally:
        pool.kill()


def _serve(pipe: Connection, work: Work, core: int, parent: int) -> None:
    """Run jobs from a pipe until it ends; runs in the worker."""
    end_with_parent(parent)
    os.sched_setaffinity(0, {core})
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(_attempt(work, pipe.recv()))


def _attempt(work: Work, job: Any) -> Any:
    try:
        return work(job)
    except MemoryError as error:
        return f"MemoryError: no memory left {_place(error)}: run with fewer --jobs"
    except Exception as error:  # a fault of the lab's own: it costs this trial and no other
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _place(error: BaseException) -> str:
    """Name what the lab was doing: its innermost function in an error's traceback."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).is_relative_to(REPO)]
    return f"in {frames[-1].name} of {Path(frames[-1].filename).relative_to(REPO)}"


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for processes that start in the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
