# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel settings of a node: written, then read back."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import NodeError

PROC = Path("/proc/sys")
LONGEST_BYTES = 4096
Settings = dict[str, str]


def pin(node: str | None, settings: Settings) -> None:
    """Write settings in a node (None: in the first namespace) and refuse what did not take."""
    with entered(node), ExitStack() as stack:
        files = {name: _written(name, value, stack) for name, value in settings.items()}
        for name, file in files.items():
            got = " ".join(os.pread(file, LONGEST_BYTES, 0).decode().split())
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
    with ExitStack() as stack:
        _written(name, value, stack, os.O_WRONLY)


def _written(name: str, value: str, stack: ExitStack, how: int = os.O_RDWR) -> int:
    """Write a setting, and return its file, which the stack closes."""
    try:
        file = os.open(_file(name), how | os.O_TRUNC)
        stack.callback(os.close, file)
        os.write(file, value.encode())
    except FileNotFoundError:
        raise _unknown(name) from None
    except OSError as error:
        raise NodeError(f"kernel: {name}={value}: {error.strerror}") from None
    return file


def _file(name: str) -> Path:
    return PROC / name.replace(".", "/")


def _unknown(name: str) -> NodeError:
    return NodeError(f"kernel: {name}: must be one of this kernel's settings")
