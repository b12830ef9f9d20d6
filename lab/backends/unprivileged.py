# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual kernel without bubblewrap: an ordinary process without rights, bounded by Landlock where there is one."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.backends.confine import Request
from lab.backends.guest_tree import GuestTree
from lab.base import paths, sandbox
from lab.base.remove import remove

HOME = "home"  # beside the guest's folder: the kernel's own pid file
PROCESSOR = Path("/proc/cpuinfo")  # the kernel reads the processor's flags


@contextmanager
def command(tree: GuestTree, argv: list[str], calls: str) -> Iterator[list[str]]:
    """Yield the command that runs a kernel, with a folder for its own files until the block ends."""
    home = tree.room.parent / HOME
    home.mkdir()
    try:
        python = [sys.executable, "-S", "-P", "-m", "lab.backends.confine"]
        yield ["env", "-i", f"PYTHONPATH={paths.REPO}", *python, json.dumps(_request(tree, argv, home, calls))]
    finally:
        remove(home)


def _request(tree: GuestTree, argv: list[str], home: Path, calls: str) -> Request:
    """Build the request; the kernel starts in its own folder, since its buffers for paths of HOME are small."""
    readable = [tree.kernel.linux, PROCESSOR, *tree.read_only.values()]
    return {
        "program": str(tree.kernel.linux.absolute()),
        "argv": argv,
        "environment": sandbox.ENVIRONMENT | {"HOME": ".", "TMPDIR": "."} | tree.environment(),
        "folder": str(home.absolute()),
        "readable": [str(path.absolute()) for path in readable],
        "writable": [str(path.absolute()) for path in (home, tree.room)],
        "parent": os.getpid(),
        "calls": calls,
    }
