# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of its own that sends: what is known of it, and how it is found and built."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LICENCES = "licences"  # beside the program: the texts of what is linked into it, by package
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Program:
    """A built program, and the digest of all that it is made of."""

    program: Path
    digest: str


@dataclass(frozen=True)
class Buildable:
    """A program that is built when it is first used: its name, and what is known of it."""

    program: str
    source: str  # where the code is, on what, and under which licence
    pinned: Callable[[], Program]  # of the present sources, built or not
    find: Callable[[], Program | None]
    ensure: Callable[[Progress], Program]

    @property
    def place(self) -> str:
        """Return the program's path below a trial's folder, with the modules that are not the lab's own."""
        return f"own/{self.program}"
