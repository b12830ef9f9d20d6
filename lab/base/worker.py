# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker: a process of this machine that does jobs, pinned to one processor, connected by a pipe.

No socket listens, so no other user can reach it. It dies with the command: the kernel kills it when the command ends
in any way (PR_SET_PDEATHSIG).
"""

import ctypes
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from lab.base.paths import REPO

JOIN_S = 5
PR_SET_PDEATHSIG = 1  # linux/prctl.h
THREADS = "POLARS_MAX_THREADS"  # read when polars is imported: each processor has a worker
SPAWN = get_context("spawn")
Work = Callable[[Any], Any]  # of a module, since workers are spawned
_is_at_work = False  # whether this process does a job, as a worker or beside its workers


def is_at_work() -> bool:
    """Return whether this process does a job; it starts no workers meanwhile."""
    return _is_at_work


class Task(NamedTuple):
    """A job, and how many workers were lost with it."""

    job: Any
    losses: int = 0


class Worker:
    """One process that runs jobs."""

    def __init__(self, core: int) -> None:
        self.core = core
        self.start()

    def start(self) -> None:
        """Start the process, also in place of one that is dead."""
        self.tasks = deque[Task]()  # sent to the process, in order
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs, self.core, os.getpid()), daemon=True)
        with _surroundings():
            self.process.start()
        theirs.close()

    def feed(self, work: Work, waiting: deque[Task], ahead: int) -> None:
        """Send so many tasks to the process; if it is dead already, the next `result` raises EOFError."""
        while waiting and len(self.tasks) < ahead:
            self.tasks.append(waiting.popleft())
            with suppress(ConnectionError):
                self.pipe.send((work, self.tasks[-1].job))

    def result(self) -> Any:
        """Return the first task's result, or the exception that it ended with; EOFError if the process is dead."""
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


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends in any way; called first in a new process."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it ended before the line above


@contextmanager
def _surroundings() -> Iterator[None]:
    """Let a process that starts in the block ignore Ctrl-C from its first instruction on, with one thread of polars."""
    resource_tracker.ensure_running()  # otherwise multiprocessing starts it here, and unblocks SIGINT
    blocked, threads = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}), os.environ.get(THREADS)
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.environ.pop(THREADS)
        os.environ.update({} if threads is None else {THREADS: threads})


def _serve(pipe: Connection, core: int, parent: int) -> None:
    """Run jobs from a pipe until it ends; runs in the worker."""
    end_with_parent(parent)
    os.sched_setaffinity(0, {core})
    tasks = SimpleQueue[tuple[Work, Any] | None]()
    Thread(target=_receive, args=(pipe, tasks), daemon=True).start()
    with suppress(ConnectionError):
        while task := tasks.get():
            pipe.send(attempt(*task))


def _receive(pipe: Connection, tasks: SimpleQueue[tuple[Work, Any] | None]) -> None:
    """Take each job at once: a pipe full of jobs one way and of a result the other way would stop both processes."""
    try:
        with suppress(EOFError, ConnectionError):
            while True:
                tasks.put(pipe.recv())
    finally:
        tasks.put(None)


def attempt(work: Work, job: Any) -> Any:
    """Do a job; an exception is returned, too."""
    global _is_at_work
    _is_at_work = True
    try:
        return work(job)
    except MemoryError as error:
        return MemoryError(f"no memory left {_place(error)}: run with fewer --jobs")
    except Exception as error:
        error.add_note(traceback.format_exc())  # a traceback does not pass the pipe
        return error
    finally:
        _is_at_work = False


def _place(error: BaseException) -> str:
    """Name what the lab was doing: its innermost function in an error's traceback."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).is_relative_to(REPO)]
    return f"in {frames[-1].name} of {Path(frames[-1].filename).relative_to(REPO)}"
