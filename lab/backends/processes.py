# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's process among those that a sandbox started."""

import os
from pathlib import Path

KERNEL = "linux"
TICKS = os.sysconf("SC_CLK_TCK")


def kernel_process(pid: int) -> int | None:
    """Return the first descendant that is named as the kernel, or None; its own children have the same name."""
    children = _children()
    left = [pid]
    while left:
        one = left.pop(0)
        if _stat(one)[:1] == [KERNEL]:
            return one
        left += children.get(one, [])
    return None


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
    children = _children()
    left, ticks = [pid], 0
    while left:
        fields = _stat(one := left.pop())
        ticks += sum(map(int, fields[12:16]))
        left += children.get(one, [])
    return ticks / TICKS


def _stat(pid: int) -> list[str]:
    """Return the name of a process and the fields behind it (proc_pid_stat(5), from the third field on)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    name, _, rest = text.partition("(")[2].rpartition(")")
    return [name, *rest.split()]


def _children() -> dict[int, list[int]]:
    """List the children of every process."""
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if fields := _stat(int(folder.name)):
            found.setdefault(int(fields[2]), []).append(int(folder.name))
    return found
