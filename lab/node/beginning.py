# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the packets of a virtual trial begin: at a time, and with random numbers, that nothing before decides.

Whatever prepares a trial reads the clock, which takes 256 ns each time, and draws numbers. What follows a beginning
depends on neither. Both ioctls are those of random(4); that the pool is then the trial's seed is a patch of the virtual
kernel's (lab/kernel/patches).
"""

import fcntl
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.punctual import sleep_until
from lab.node.task import Task

if TYPE_CHECKING:
    from lab.node.plan import Plan

GRID_S = 30  # more than nodes and probes take: what they take decides nothing
RNDCLEARPOOL, RNDRESEEDCRNG = 0x5206, 0x5207  # linux/random.h


def begin(plan: "Plan") -> int:
    """Begin at the next half minute of the virtual clock, and return its second; in real time, at once."""
    second = (time.monotonic_ns() // 10**9 // GRID_S + 1) * GRID_S
    begin_at(plan, second)
    return second


def begin_at(plan: "Plan", second: int) -> None:
    """Begin at a second of the virtual clock; in real time, at once."""
    if plan.get("clock") == "real":
        return
    Task(sleep_until, second).result()
    with Path("/dev/urandom").open("rb", buffering=0) as device:
        for request in (RNDCLEARPOOL, RNDRESEEDCRNG):
            fcntl.ioctl(device, request)
