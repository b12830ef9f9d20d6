# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a stranger's source is built: in the builder's root, with one writable folder, sandboxed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lab.base import sandbox
from lab_try.node.bounded import Done, Step, run_steps

BUILD_S = 120  # most for a step
PLACE = "/tmp/own"  # where it is built
INTERFACE = "/tmp/interface"  # slow_start.h and its symbols, of the lab's own modules
SOCKET_BYTES = 104  # ICSK_CA_PRIV_SIZE of Debian's kernels, include/net/inet_connection_sock.h
SEARCH = "search"  # folder of a build of the lab's own modules: slow_start.h and the symbols that they export


class Builder(Protocol):
    """Runs steps for strangers."""

    def run(self, steps: Sequence[Step], work: Path, results: Sequence[str], interface: Path | None) -> list[Done]:
        """Run steps at PLACE, up to the first that fails, bounded in time, memory and output.

        work: the folder whose content PLACE has, and into which files with the names of `results` come.
        interface: the folder that INTERFACE has.
        """


@dataclass(frozen=True)
class Sandboxed:
    """A builder in bubblewrap; `bound` is what its root lacks."""

    root: Path
    bound: Mapping[Path, str] = field(default_factory=dict)

    def run(self, steps: Sequence[Step], work: Path, results: Sequence[str], interface: Path | None) -> list[Done]:
        """Run steps; whatever they make stays in the folder."""
        del results
        read_only = {**self.bound, **({interface: INTERFACE} if interface else {})}
        for folder in filter(None, (work, interface)):  # a umask may shut others out of both
            sandbox.own_tree(folder)
        try:
            return run_steps(
                steps,
                BUILD_S,
                lambda argv: sandbox.command(
                    self.root, argv, read_only=read_only, writable={work: PLACE}, folder=PLACE
                ),
                work,
            )
        finally:
            sandbox.disown_tree(work)


@dataclass(frozen=True)
class Tree:
    """A kernel's build tree."""

    make: tuple[str, ...]  # the command, without the module's folder
    interface: Path  # folder with slow_start.h and Module.symvers
    digest: str
    builder: Builder
    socket_bytes: int = SOCKET_BYTES  # what a socket has for its congestion control
