# SPDX-License-Identifier: GPL-2.0-or-later
"""A lock that names its holder. It ends with its process, however that ends: no process forked from it holds it too."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.node.system.tools import NodeError


@contextmanager
def held_alone(file: Path, holder: str) -> Iterator[None]:
    """Hold a lock while the block runs; NodeError that names who holds it."""
    with file.open("a+") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            lock.seek(0)
            raise NodeError(f"{file}: held by {lock.read().strip() or 'another command'}: wait for it") from None
        lock.truncate(0)
        lock.write(holder)
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)
