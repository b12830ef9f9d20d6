# SPDX-License-Identifier: GPL-2.0-or-later
"""Wall time of work, on one core or on all."""

import os
import time
from collections.abc import Callable


def timed(work: Callable[[], object]) -> float:
    """Time work, in seconds."""
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def pinned(work: Callable[[], object]) -> float:
    """Time work on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return timed(work)
    finally:
        os.sched_setaffinity(0, cores)
