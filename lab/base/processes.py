# SPDX-License-Identifier: GPL-2.0-or-later
"""This machine: its processors and memory, and one function over many inputs in threads that wait for programs."""

import os
import platform
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TypeVar

LOOK_AGAIN_S = 0.1  # Ctrl-C is taken when a wait ends: a library may have the kernel go on with it (SA_RESTART)
ENDING_WITH_THIS = ("setpriv", "--pdeathsig", "KILL", "--")  # before a program: it ends with the thread that starts it
KILL_AGAIN_S = 0.1  # a thread may go on to its next program
MIB = 1 << 20
CONTAINER = Path("/sys/fs/cgroup/memory.max")  # of a container; "max" without a limit
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


def processor() -> str:
    """Return the model's name, or the architecture where the system gives no name."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return models[0] if models else platform.machine()


def machine_mb() -> int:
    """Return the machine's memory in MiB, or what a container may use of it."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
    limit = CONTAINER.read_text().strip() if CONTAINER.exists() else ""
    return min(whole, int(limit) // MIB) if limit.isdecimal() else whole
