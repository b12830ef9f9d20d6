# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of its own that sends: what is known of it, and how it is found and built."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.base import sandbox
from lab.base.cache import ensured, finished, use

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
    prepare: Callable[[Progress], Path]  # fetches what the build needs, and returns the root folder that it runs in
    build: Callable[[Path, Path], None]  # takes that, and the folder to fill

    def find(self) -> Program | None:
        """Return the program of the present sources, if it is built."""
        pinned = self.pinned()
        return pinned if finished(pinned.program.parent) else None

    def ensure(self, progress: Progress = lambda _what: None) -> Program:
        """Return the program; build it where the cache does not have it."""
        pinned = self.pinned()
        folder = pinned.program.parent
        if not finished(folder):
            sandbox.require()
            root = self.prepare(progress)
            ensured(folder, lambda draft: self.build(root, draft))
        use(folder)
        return pinned

    @property
    def place(self) -> str:
        """Return the program's path below a trial's folder, with the modules that are not the lab's own."""
        return f"own/{self.program}"
