# SPDX-License-Identifier: GPL-2.0-or-later
"""Waking up on time: the kernel may wake a thread 50 us late, together with whatever else wakes up."""

import errno
import struct

from lab.node.system.libc import LIBC

PR_SET_TIMERSLACK = 29
CLOCK_MONOTONIC, TIMER_ABSTIME = 1, 1  # linux/time.h
TIMESPEC = struct.Struct("qq")
SECOND_NS = 10**9


def punctual_thread() -> None:
    """Let this thread wake up on time from now on."""
    LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)  # ns


def sleep_until(time_ns: int) -> None:
    """Let this thread, punctual from now on, sleep until a time of the monotonic clock."""
    punctual_thread()
    until = TIMESPEC.pack(*divmod(time_ns, SECOND_NS))
    while LIBC.clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, until, None) == errno.EINTR:
        continue
