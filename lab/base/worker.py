# SPDX-License-Identifier: GPL-2.0-or-later
"""A worker: a process of this machine that does jobs, pinned to one processor, connected by a pipe.

No socket listens, so no other user can reach it. It dies with the command: the kernel kills it when the command ends
in any way (PR_SET_PDEATHSIG).
"""

import ctypes
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from lab.base.paths import REPO

JOIN_S = 5
PR_SET_PDEATHSIG = 1  # linux/prctl.h
VARIABLES = {
    "POLARS_MAX_THREADS": "1",  # read when polars is imported: each processor has a worker
    "PYTHONSAFEPATH": "1",  # no module comes from the current folder, which may be a stranger's
}
SPAWN = get_context("spawn")
Work = Callable[[Any], Any]  # of a module, since workers are spawned
_is_worker = False  # whether this process is one


def is_worker() -> bool:
    """Return whether this process is a worker, which has no workers of its own."""
    return _is_worker


class Task(NamedTuple):
    """A job, and how many workers were lost with it."""

    job: Any
    losses: int = 0


class Worker:
    """One process that runs jobs."""

    def __init__(self, core: int, modules: Sequence[str] = ()) -> None:
        self.core, self.modules = core, modules
        self.start()

    def start(self) -> None:
        """Start the process, also in place of one that is dead."""
        self.task: Task | None = None
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(theirs, self.core, os.getpid(), self.modules), daemon=True)
        with _surroundings():
            self.process.start()
        theirs.close()

    def submit(self, work: Work, task: Task) -> None:
        """Send a task to the process; if it is dead already, the next `result` raises EOFError."""
        self.task = task
        with suppress(ConnectionError):
            self.pipe.send((work, task.job))

    def result(self) -> Any:
        """Return the task's result, or the exception that it ended with; EOFError if the process is dead."""
        self.task = None
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
    """Let a process that starts in the block ignore Ctrl-C from its first instruction on, with variables of its own."""
    usual = {name: os.environ[name] for name in VARIABLES.keys() & os.environ.keys()}
    os.environ.update(VARIABLES)
    resource_tracker.ensure_running()  # otherwise multiprocessing starts it here, and unblocks SIGINT
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for name in VARIABLES:
            os.environ.pop(name)
        os.environ.update(usual)


def _serve(pipe: Connection, core: int, parent: int, modules: Sequence[str]) -> None:
    """Import modules, and run jobs from a pipe until it ends; runs in the worker."""
    global _is_worker
    end_with_parent(parent)
    os.sched_setaffinity(0, {core})
    _is_worker = True
    for name in modules:
        import_module(name)
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(_attempt(*pipe.recv()))


def _attempt(work: Work, job: Any) -> Any:
    try:
        return work(job)
    except MemoryError as error:
        return MemoryError(f"no memory left {_place(error)}: run with fewer --jobs")
    except Exception as error:
        error.add_note(traceback.format_exc())  # a traceback does not pass the pipe
        return error if _passes(error) else RuntimeError(f"{type(error).__name__}: {error}")


def _passes(error: Exception) -> bool:
    """Return whether an exception can be made again from what passes the pipe: its class may require other values."""
    try:
        return isinstance(pickle.loads(pickle.dumps(error)), type(error))  # noqa: S301 - this process has written it
    except Exception:
        return False


def _place(error: BaseException) -> str:
    """Name what the lab was doing: its innermost function in an error's traceback."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if Path(each.filename).is_relative_to(REPO)]
    return f"in {frames[-1].name} of {Path(frames[-1].filename).relative_to(REPO)}"
