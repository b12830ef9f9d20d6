# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of the virtual kernel that keep its own work the same in its first trial and in every later one."""

import os
from pathlib import Path

SOFTIRQS = "ksoftirqd/0"
NEIGHBOURS = "ipv?/neigh/default"
NEVER_MS = 20 * 24 * 3600 * 1000


def keep_steady() -> None:
    """Set what would make the kernel's work in a trial depend on the trials before it.

    Softirqs that the kernel puts off go before programs: the scheduler chooses between two ordinary threads by what
    each has done so far, and a program that is first reads the clock before a packet goes on. The kernel goes through
    its tables of neighbours once more at most, instead of every 15 s from its boot on.
    """
    os.sched_setscheduler(_thread(SOFTIRQS), os.SCHED_FIFO, os.sched_param(1))
    for table in Path("/proc/sys/net").glob(NEIGHBOURS):
        (table / "base_reachable_time_ms").write_text(str(NEVER_MS))


def _thread(name: str) -> int:
    """Find a thread of the kernel."""
    return next(int(each.parent.name) for each in Path("/proc").glob("[0-9]*/comm") if each.read_text().strip() == name)
