# SPDX-License-Identifier: GPL-2.0-or-later
"""One function over many inputs, in processes or threads."""

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from itertools import count
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

LOOK_AGAIN_S = 0.1  # Ctrl-C is taken when a wait ends: a library may have the kernel go on with it (SA_RESTART)
PR_SET_PDEATHSIG = 1  # linux/prctl.h
ENDING_WITH_THIS = ("setpriv", "--pdeathsig", "KILL", "--")  # before a program: it ends with the thread that starts it
KILL_AGAIN_S = 0.1  # a thread may go on to its next program
_shared: ContextVar[ProcessPoolExecutor | None] = ContextVar("shared", default=None)  # of one_pool's block
_in_a_pool = False  # whether this is one of a pool's processes
_turns = count(os.getpid())  # so that commands at once do not all begin on the first processor
Given = TypeVar("Given")
Result = TypeVar("Result")


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def next_processor() -> int:
    """Return one of the processors that this process may use, another one at each call."""
    own = sorted(os.sched_getaffinity(0))
    return own[next(_turns) % len(own)]


@contextmanager
def on_one_processor() -> Iterator[None]:
    """Bind this thread, and for good what it starts in the block, to one processor.

    A virtual kernel and its programs take turns, and each turn takes longer where they are on different ones.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {next_processor()})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def map_in_processes(
    function: Callable[[Given], Result], inputs: Sequence[Given], per_process: int = 1
) -> list[Result]:
    """Return the function's result of each input, in their order; the rest is as in each_in_processes."""
    return list(each_in_processes(function, inputs, per_process))


def each_in_processes(
    function: Callable[[Given], Result], inputs: Sequence[Given], per_process: int = 1
) -> Generator[Result, None, None]:
    """Yield the function's result of each input in their order, each as soon as it is there.

    function: of a module, since the processes are spawned; in one of them it starts no others. per_process: with fewer
    inputs for each process there are fewer processes. They end at once with this call, or with the block of one_pool.
    """
    processes, done = min(processors(), len(inputs) // per_process), 0
    if processes > 1 and not _in_a_pool:
        shared = _shared.get()
        with (
            suppress(BrokenProcessPool),  # a process was killed, or cannot be started from where this was called
            nullcontext(shared) if shared else _new_pool(processes) as pool,
        ):
            # no pool.map: it cancels what is left after an error, of which a thread of the pool prints a traceback
            size = max(per_process // 2, 1)
            parts = (inputs[begin : begin + size] for begin in range(0, len(inputs), size))
            with sigint_blocked():
                futures = [pool.submit(_each_of, function, part) for part in parts]
            for future in futures:
                for result in future.result():
                    done += 1
                    yield result
    yield from map(function, inputs[done:])


@contextmanager
def one_pool() -> Iterator[None]:
    """Let the calls in the block have the same processes: what one of them has imported is there for the next."""
    with _new_pool(processors()) as pool:
        token = _shared.set(pool)
        try:
            yield
        finally:
            _shared.reset(token)


@contextmanager
def _new_pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool, none of whose processes is started yet. In the end they are killed: nobody waits for them."""
    context, before = multiprocessing.get_context("spawn"), set(multiprocessing.active_children())
    with ProcessPoolExecutor(processes, context, _begin, (os.getpid(),)) as pool:
        try:
            yield pool
        finally:
            for process in set(multiprocessing.active_children()) - before:
                process.kill()


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Let processes that start in the block ignore Ctrl-C from their first instruction on: this process ends them."""
    resource_tracker.ensure_running()  # otherwise multiprocessing starts it here, and unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _each_of(function: Callable[[Given], Result], inputs: Sequence[Given]) -> list[Result]:
    return [function(each) for each in inputs]


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends in any way; called first in a new process."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it ended before the line above


def _begin(parent: int) -> None:
    global _in_a_pool
    end_with_parent(parent)
    _in_a_pool = True
    os.environ["POLARS_MAX_THREADS"] = "1"  # each processor has a process


def map_in_threads(
    function: Callable[[Given], Result], inputs: Sequence[Given], at_once: int | None = None
) -> list[Result]:
    """Return the function's result of each input, in their order; each input has a thread that waits for programs.

    at_once: how many threads there are, else one for each input. The first error, or Ctrl-C, ends every program that
    the threads have started.
    """
    before = _children()
    with ThreadPoolExecutor(at_once or max(len(inputs), 1)) as pool:
        futures = [pool.submit(function, each) for each in inputs]
        try:
            while wait(futures, LOOK_AGAIN_S).not_done:
                for each in futures:
                    if each.done():
                        each.result()
            return [each.result() for each in futures]
        except BaseException:
            for each in futures:
                each.cancel()
            while wait(futures, KILL_AGAIN_S).not_done:
                for pid in _children() - before:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGTERM)  # of a sandbox, which ends all that it has started
            raise


def _children() -> set[int]:
    """List the programs that this process has started, by whichever thread."""
    found: set[int] = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            found |= {int(pid) for pid in (thread / "children").read_text().split()}
    return found
