# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel that a user's own module is built for: its build tree, and what builds there."""

from dataclasses import dataclass
from pathlib import Path

from lab_try.module.builder import Builder

SOCKET_BYTES = 104  # ICSK_CA_PRIV_SIZE of Debian's kernels, include/net/inet_connection_sock.h
SEARCH = "search"  # folder of a build of the lab's own modules: slow_start.h and the symbols that they export


@dataclass(frozen=True)
class Tree:
    """A kernel's build tree."""

    make: tuple[str, ...]  # the command, without the module's folder
    interface: Path  # folder with slow_start.h and Module.symvers
    digest: str
    builder: Builder
    socket_bytes: int = SOCKET_BYTES  # what a socket has for its congestion control
