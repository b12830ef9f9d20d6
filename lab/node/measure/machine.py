# SPDX-License-Identifier: GPL-2.0-or-later
"""How busy a machine was while a trial ran on it in real time, and how late sleeping processes woke up."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.node.record import Lateness, MachineLoad, Second


INTERVAL_NS = 10_000_000
SECOND_NS = 1_000_000_000
BUSY = ("user", "nice", "system", "irq", "softirq")
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # proc_stat(5)
Times = dict[str, int]


def watch() -> "MachineLoad":
    """Watch until SIGTERM; return the busy share of the processors, second by second, and how late we woke."""
    late_us: list[float] = []
    seconds: list[Second] = []
    due_ns = second_ns = time.monotonic_ns()
    before = _times()
    try:
        while True:
            due_ns += INTERVAL_NS
            time.sleep(max(due_ns - time.monotonic_ns(), 0) / 1e9)
            now_ns = time.monotonic_ns()
            late_us.append((now_ns - due_ns) / 1e3)
            if now_ns - second_ns >= SECOND_NS:
                now = _times()
                seconds.append(_shares(before, now))
                before, second_ns = now, now_ns
    except SystemExit:
        return {
            "processors": os.cpu_count(),
            "seconds": seconds,
            "wake_ups": len(late_us),
            "late_us": _summary(late_us),
        }


def _times() -> Times:
    """Read what all processors together have spent, in ticks."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return dict(zip(FIELDS, map(int, words), strict=False))


def _shares(before: Times, now: Times) -> "Second":
    spent = {field: now[field] - before[field] for field in FIELDS}
    whole = max(sum(spent.values()), 1)
    busy = sum(spent[field] for field in BUSY)
    return {"busy_pct": 100 * busy / whole, "steal_pct": 100 * spent["steal"] / whole}


def _summary(late_us: list[float]) -> "Lateness":
    ranked = sorted(late_us)

    def at(share: float) -> float | None:
        return ranked[round(share * (len(ranked) - 1))] if ranked else None

    return {"p50": at(0.5), "p99": at(0.99), "max": at(1.0)}
