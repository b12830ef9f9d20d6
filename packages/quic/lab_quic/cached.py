# SPDX-License-Identifier: GPL-2.0-or-later
"""A program in the cache: whether it is there, and how it gets there."""

from collections.abc import Callable
from pathlib import Path

from lab.base import sandbox
from lab.base.cache import finished, publish, use
from lab.kernel.program import Program


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
