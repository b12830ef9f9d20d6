# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel settings of a node: written, then read back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import NodeError

PROC = Path("/proc/sys")
Settings = dict[str, str]


def pin(node: str | None, settings: Settings) -> None:
    """Write settings in a node (None: in the first namespace) and refuse what did not take."""
    with entered(node):
        for name, value in settings.items():
            write(name, value)
    for name, got in read(node, settings).items():
        if got != " ".join(settings[name].split()):
            raise NodeError(f"{node or 'kernel'}: {name}={got}: must be {settings[name]}")


def read(node: str | None, names: Iterable[str]) -> Settings:
    """Read settings of a node, or of the first namespace."""
    with entered(node):
        return {name: " ".join(_read(name).split()) for name in names}


@contextmanager
def given_back(names: Iterable[str]) -> Iterator[None]:
    """Give the first namespace its settings back after the block."""
    before = read(None, names)
    try:
        yield
    finally:
        pin(None, before)


def _read(name: str) -> str:
    try:
        return small_file.read(_file(name))
    except FileNotFoundError:
        raise _unknown(name) from None


def write(name: str, value: str) -> None:
    """Write a setting of the node that this thread is in."""
    try:
        small_file.write(_file(name), value)
    except FileNotFoundError:
        raise _unknown(name) from None
    except OSError as error:
        raise NodeError(f"kernel: {name}={value}: {error.strerror}") from None


def _file(name: str) -> Path:
    return PROC / name.replace(".", "/")


def _unknown(name: str) -> NodeError:
    return NodeError(f"kernel: {name}: must be one of this kernel's settings")
