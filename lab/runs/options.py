# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of a run that change no result."""

import os
from dataclasses import dataclass, field

from lab.base.command_line import COMMAND_LINE
from lab.base.errors import field_error

MOST_WORKERS = 1024


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class RunOptions:
    """How many trials run at the same time, and where; which records are kept."""

    workers: int = field(default_factory=cores)
    scheduler: str | None = None  # address of a dask scheduler; None: this machine's processors
    keep_capture: bool = True

    def __post_init__(self) -> None:
        """Refuse more workers than any machine has processors."""
        if not 1 <= self.workers <= MOST_WORKERS:
            raise field_error(COMMAND_LINE, "jobs", self.workers, f"1 to {MOST_WORKERS}")
