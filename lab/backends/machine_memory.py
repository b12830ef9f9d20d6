# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory of this machine, which bounds that of a virtual kernel: a kernel that has less ends in a panic."""

import os

MIB = 1 << 20


def machine_mb() -> int:
    """Return the machine's memory in MiB."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // MIB
