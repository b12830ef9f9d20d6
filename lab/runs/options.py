# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of a run that change no result."""

import os
from dataclasses import dataclass, field


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class RunOptions:
    """How many trials run at the same time, and where; which records are kept."""

    workers: int = field(default_factory=cores)
    scheduler: str | None = None  # address of a dask scheduler; None: this machine's processors
    keep_capture: bool = True
