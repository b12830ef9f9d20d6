# SPDX-License-Identifier: GPL-2.0-or-later
"""How slow a machine is: limits of processor time are wider on a slow one, so that they end programs and no machine."""

import resource
import subprocess
import sys
from functools import cache

USUAL_START_S = 0.01  # processor time of one start, on the machine on which the limits were set
STARTS = 5


@cache
def slowness() -> float:
    """Return how many times the usual processor time it takes to start an interpreter here, at least 1.

    A start is like the work of a virtual kernel: system calls and page faults, and little computing.
    """
    return max(1.0, min(_start_s() for _ in range(STARTS)) / USUAL_START_S)


def _start_s() -> float:
    before_s = _children_s()
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    return _children_s() - before_s


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
