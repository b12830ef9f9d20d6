# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of a run that change no result."""

from dataclasses import dataclass, field

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.processes import processors

MOST_WORKERS = 1024


@dataclass(frozen=True)
class RunOptions:
    """How many trials run at the same time, and where; which records are kept."""

    workers: int = field(default_factory=processors)
    scheduler: str | None = None  # address of a dask scheduler; None: this machine's processors
    keep_capture: bool = True

    def __post_init__(self) -> None:
        """Refuse more workers than any machine has processors."""
        if not 1 <= self.workers <= MOST_WORKERS:
            raise field_error(COMMAND_LINE, "jobs", self.workers, f"1 to {MOST_WORKERS}")
