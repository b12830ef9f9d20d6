# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual trial's own clock and random numbers: nothing before the trial, nor what prepares it, decides its packets.

A virtual kernel may run several trials. Each has a clock of its own, which counts from its origin: a second of the
kernel's clock. Whatever prepares a trial reads the clock, which takes 256 ns each time, and draws numbers; its packets
begin later, at a time and with random numbers that do not depend on that. The ioctls are those of random(4); what they
do in a kernel with a seed is a patch of the virtual kernel's (lab/kernel/patches), which also keeps the time since the
kernel's boot out of the packets.
"""

import ctypes
import fcntl
import os
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.system.libc import LIBC
from lab.node.system.punctual import SECOND_NS, sleep_until
from lab.node.system.task import Task
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Plan

# An origin lies at one place of the wheel of the kernel's timers: those of up to 258 s are rounded to 2^12 ms or finer
# (kernel/time/timer.c), and 512 s are whole multiples of that, as of the 5.12 s at which neighbours are gone through.
# It lies behind what a trial leaves: connections without a program (up to 200 s) and idle workers (300 s). Either one
# wakes the deadline server of Linux 6.12 (kernel/sched/deadline.c), which may let a program run before a softirq.
PERIOD_S = 512
# More would save little: a boot takes as long as one short trial. Clocks of 32 bits in us begin again at 4,295 s, which
# is behind the traffic of the eighth trial: of so many, each lasts 22 s at most (lab/runs/one_boot.py).
MOST_PLANS = 16
PROBES_S, TRAFFIC_S = 10, 30  # on a trial's clock, or whole multiples: more than nodes, and nodes and probes, take
MARGIN_NS = 1_000_000  # more than what comes between two beginnings takes
RNDCLEARPOOL, RNDRESEEDCRNG = 0x5206, 0x5207  # linux/random.h
TIMEX = struct.Struct("I68xqq120x")  # linux/timex.h: modes, then seconds and nanoseconds
ADJ_SETOFFSET, ADJ_NANO = 0x0100, 0x2000
_origin_s = 0  # of the trial under way: a kernel runs one at a time


def most_plans(clock_s: float) -> int:
    """Return how many trials may follow one another where a kernel's clock may go so far."""
    return int(min(clock_s, MOST_PLANS * PERIOD_S) // PERIOD_S)


def prepare(plan: "Plan") -> None:
    """Begin a trial's clock, and its random numbers from its seed, as if the virtual kernel had booted for it."""
    global _origin_s
    if plan.get("clock") == "real":
        return
    if _origin_s >= MOST_PLANS * PERIOD_S:
        raise NodeError(f"a boot has {MOST_PLANS} trials at most")
    before_s = _origin_s
    _origin_s = (_passed_s() // PERIOD_S + 1) * PERIOD_S
    _wake_at(_origin_s * SECOND_NS)
    _set_date_back(_origin_s - before_s)
    _draw(struct.pack("=Q", plan["seed"]))


def origin_ns() -> int:
    """Return when the clock of the trial under way began, on the kernel's clock; 0 in real time."""
    return _origin_s * SECOND_NS


def settle(plan: "Plan", every_s: int) -> int:
    """Sleep until the trial's clock shows a whole multiple of some seconds; returns that. In real time, do not wait."""
    second = ((_passed_s() - _origin_s) // every_s + 1) * every_s
    if plan.get("clock") != "real":
        _wake_at(origin_ns() + second * SECOND_NS)
    return second


def begin(plan: "Plan", second: int) -> None:
    """Begin at a second of the trial's clock, with the seed's next random numbers; in real time, at once."""
    if plan.get("clock") != "real":
        _wake_at(origin_ns() + second * SECOND_NS)
        _draw()


def start(plan: "Plan", second: int) -> None:
    """Sleep for the plan's phase from a second of the trial's clock on, which has just begun."""
    if plan.get("clock") == "real":
        time.sleep(plan["start_phase_s"])
    else:
        _wake_at(origin_ns() + second * SECOND_NS + MARGIN_NS + round(plan["start_phase_s"] * SECOND_NS))


def _passed_s() -> int:
    return time.monotonic_ns() // SECOND_NS


def _wake_at(time_ns: int) -> None:
    """Sleep in a thread that wakes up on time: the programs that this one starts would inherit that."""
    Task(sleep_until, time_ns).result()


def _draw(seed: bytes = b"") -> None:
    """Draw from a seed from now on, or without one from the next sequence of the present seed."""
    with Path("/dev/urandom").open("rb", buffering=0) as device:
        fcntl.ioctl(device, RNDCLEARPOOL, seed or 0)
        fcntl.ioctl(device, RNDRESEEDCRNG)


def _set_date_back(seconds: int) -> None:
    """Set the date back by whole seconds, to the nanosecond: every trial begins at the same one."""
    if seconds and LIBC.adjtimex(ctypes.create_string_buffer(TIMEX.pack(ADJ_SETOFFSET | ADJ_NANO, -seconds, 0))) < 0:
        raise NodeError(f"adjtimex: {os.strerror(ctypes.get_errno())}")
