# SPDX-License-Identifier: GPL-2.0-or-later
"""How busy a machine was while a trial ran on it in real time, and how late sleeping processes woke up."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node.net.forked import Forked

if TYPE_CHECKING:
    from lab.node.plan import Plan
    from lab.node.record import Lateness, MachineLoad, NodeRecord, Second


INTERVAL_NS = 10_000_000
SECOND_NS = 1_000_000_000
BUSY = ("user", "nice", "system", "irq", "softirq")
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # proc_stat(5)
Times = dict[str, int]


class Real:
    """What a trial in real time records besides, and the second machine where the client's TCP runs on one."""

    def __init__(self, plan: "Plan", far: Any) -> None:
        self.plan, self.far = plan, far

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the machine while the block runs: it may be too slow."""
        process = Forked(self.plan["ends"][0], watch)
        try:
            yield
        finally:
            self._machine: MachineLoad = process.stop()

    def complete(self, record: "NodeRecord") -> None:
        """Add the machines to a record, and the counters of a client's TCP that are on its own machine."""
        record["machine"] = self._machine
        if self.far:
            record["far"] = {"machine": self.far.machine, "wire_us": self.far.wire_us}
            record["counters"]["tcp"][self.far.here] = self.far.request("losses")


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
