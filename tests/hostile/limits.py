# SPDX-License-Identifier: GPL-2.0-or-later
"""Bounds of memory and time for a process that reads hostile files: the system enforces them."""

import resource

MEMORY_BYTES = 6 << 30  # of addresses: numpy, polars and their threads reserve two of them


def bound(cpu_s: int) -> None:
    """Bound this process for good."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
