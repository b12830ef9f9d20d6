# SPDX-License-Identifier: GPL-2.0-or-later
"""A node's network namespace, entered by a thread of ours.

What the thread then opens or starts is there, without `ip netns exec`: under User Mode Linux every process costs
milliseconds, and a system call next to nothing.
"""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError

CLONE_NEWNET = 0x40000000
MNT_DETACH = 2
MS_BIND, MS_REC, MS_SHARED = 1 << 12, 1 << 14, 1 << 20
NAMES = Path("/run/netns")


def named() -> list[str]:
    """Name the namespaces that have a name, as `ip netns list` does."""
    return sorted(path.name for path in NAMES.iterdir()) if NAMES.is_dir() else []


def enter(node: str) -> None:
    """Put this thread in a node's namespace for good."""
    try:
        there = os.open(NAMES / node, os.O_RDONLY)
    except FileNotFoundError:
        raise NodeError(f"{node}: its network namespace is gone") from None
    _switch(there, node)


@contextmanager
def entered(node: str | None) -> Iterator[None]:
    """Put this thread in a node's namespace while the block runs; None: let it stay where it is."""
    if node is None:
        yield
        return
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        enter(node)
        yield
    finally:
        _switch(home, "home")


def inside(node: str, work: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns in a node's namespace."""
    with entered(node):
        return work(*args)


@contextmanager
def apart() -> Iterator[None]:
    """Put this thread in a new namespace while the block runs, where no interface has a name yet."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        if LIBC.unshare(CLONE_NEWNET):
            raise NodeError(f"a network namespace cannot be made: {os.strerror(ctypes.get_errno())}")
        yield
    finally:
        _switch(home, "home")


def make(node: str) -> None:
    """Make a namespace with a name, as `ip netns add` does."""
    NAMES.mkdir(mode=0o755, parents=True, exist_ok=True)
    if LIBC.mount(b"", str(NAMES).encode(), b"none", MS_SHARED | MS_REC, None):  # it is no mount yet
        _mount(NAMES, NAMES, MS_BIND | MS_REC)
        _mount(Path(), NAMES, MS_SHARED | MS_REC)
    try:
        (NAMES / node).touch(mode=0, exist_ok=False)
    except FileExistsError:
        raise NodeError(f"{node}: a network namespace has this name already") from None
    with apart():
        _mount(Path("/proc/thread-self/ns/net"), NAMES / node, MS_BIND)


def _mount(source: Path, target: Path, flags: int) -> None:
    if LIBC.mount(str(source).encode(), str(target).encode(), b"none", flags, None):
        raise NodeError(f"mount {target}: {os.strerror(ctypes.get_errno())}")


def unname(node: str) -> None:
    """Take a namespace's name away, as `ip netns delete` does."""
    LIBC.umount2(str(NAMES / node).encode(), MNT_DETACH)
    (NAMES / node).unlink()


def _switch(namespace: int, name: str) -> None:
    refused = LIBC.setns(namespace, CLONE_NEWNET)
    os.close(namespace)
    if refused:
        raise NodeError(f"{name}: its network namespace cannot be entered: {os.strerror(ctypes.get_errno())}")
