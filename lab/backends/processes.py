# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's process among those that a sandbox started."""

import os
from pathlib import Path

from lab.node.system.tree import processes_of

KERNEL = "linux"
TICKS = os.sysconf("SC_CLK_TCK")


def kernel_process(pid: int) -> int | None:
    """Return the first descendant that is named as the kernel, or None; its own children have the same name."""
    return next((each for each in processes_of(pid) if _stat(each)[:1] == [KERNEL]), None)


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has taken; 0 if it has ended."""
    fields = _stat(pid)
    return (int(fields[12]) + int(fields[13])) / TICKS if fields else 0.0


def waits(pid: int) -> int:
    """Return how often a process has waited; a virtual kernel does whenever one of its programs runs."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return int(text.partition("\nvoluntary_ctxt_switches:")[2].partition("\n")[0] or 0)


def whole_cpu_s(pid: int) -> float:
    """Return the processor time of a process, of its descendants, and of those that have ended."""
    return sum(int(ticks) for each in processes_of(pid) for ticks in _stat(each)[12:16]) / TICKS


def _stat(pid: int) -> list[str]:
    """Return the name of a process and the fields behind it (proc_pid_stat(5), from the third field on)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    name, _, rest = text.partition("(")[2].rpartition(")")
    return [name, *rest.split()]
