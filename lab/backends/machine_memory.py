# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory of this machine, which bounds that of a virtual kernel: a kernel that has less ends in a panic."""

import os
from pathlib import Path

MIB = 1 << 20
CONTAINER = Path("/sys/fs/cgroup/memory.max")  # of a container; "max" without a limit


def machine_mb() -> int:
    """Return the machine's memory in MiB, or what a container may use of it."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
    limit = CONTAINER.read_text().strip() if CONTAINER.exists() else ""
    return min(whole, int(limit) // MIB) if limit.isdecimal() else whole
