# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of its own that sends: how it is built, cached and found."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.base import sandbox
from lab.base.cache import finished, publish, use

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


def found(pinned: Program) -> Program | None:
    """Return a program if it is built."""
    return pinned if finished(pinned.program.parent) else None


def ensured(pinned: Program, prepare: Callable[[], Path], build: Callable[[Path, Path], None]) -> Program:
    """Return a program; build it where the cache does not have it.

    prepare: fetches what the build needs and returns its root folder; build: takes that and the folder to fill.
    """
    if not found(pinned):
        sandbox.require()
        root = prepare()
        with publish(pinned.program.parent) as draft:
            if draft:
                build(root, draft)
    use(pinned.program.parent)
    return pinned
