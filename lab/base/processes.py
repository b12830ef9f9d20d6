# SPDX-License-Identifier: GPL-2.0-or-later
"""One function over many inputs, in as many processes as there are cores."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def map_in_processes(
    function: Callable[[Given], Result],
    inputs: Sequence[Given],
    workers: int | None = None,
    per_process: int = 1,
    prepare: Callable[[], None] | None = None,
) -> list[Result]:
    """Return the function's result of each input, in their order.

    function: of a module, since the processes are spawned. per_process: with fewer inputs for each process there are
    fewer processes. prepare: is called first in each process.
    """
    processes = min(workers or processors(), len(inputs) // per_process)
    if processes < 2:
        return list(map(function, inputs))
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(processes, context, prepare) as pool:
            return list(pool.map(function, inputs, chunksize=max(per_process // 2, 1)))
    except BrokenProcessPool:  # a process was killed, or cannot be started from where this was called
        return list(map(function, inputs))
