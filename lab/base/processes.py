# SPDX-License-Identifier: GPL-2.0-or-later
"""This machine: its processors and memory."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

ENDING_WITH_THIS = ("setpriv", "--pdeathsig", "KILL", "--")  # before a program: it ends with the thread that starts it
MIB = 1 << 20
CONTAINER = Path("/sys/fs/cgroup/memory.max")  # of a container; "max" without a limit
_turns = count(os.getpid())  # so that commands at once do not all begin on the first processor


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
