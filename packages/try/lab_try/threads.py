# SPDX-License-Identifier: GPL-2.0-or-later
"""One function over many inputs, in threads that wait for programs."""

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

LOOK_AGAIN_S = 0.1  # Ctrl-C is taken when a wait ends: a library may have the kernel go on with it (SA_RESTART)
KILL_AGAIN_S = 0.1  # a thread may go on to its next program
Given = TypeVar("Given")
Result = TypeVar("Result")


def map_in_threads(function: Callable[[Given], Result], inputs: Sequence[Given]) -> list[Result]:
    """Return the function's result of each input, in their order; each input has a thread that waits for programs.

    The first error, or Ctrl-C, ends every program that the threads have started.
    """
    before = _children()
    with ThreadPoolExecutor(max(len(inputs), 1)) as pool:
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
