# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel settings of a node: written, then read back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.node.namespace import entered
from lab.node.tools import NodeError

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
        return {name: " ".join(_file(name).read_text().split()) for name in names}


@contextmanager
def given_back(names: Iterable[str]) -> Iterator[None]:
    """Give the first namespace its settings back after the block."""
    before = read(None, names)
    try:
        yield
    finally:
        pin(None, before)


def _file(name: str) -> Path:
    file = PROC / name.replace(".", "/")
    if not file.exists():
        raise NodeError(f"kernel: {name}: must be one of this kernel's settings")
    return file


def write(name: str, value: str) -> None:
    """Write a setting of the node that this thread is in."""
    try:
        _file(name).write_text(value)
    except OSError as error:
        raise NodeError(f"kernel: {name}={value}: {error.strerror}") from None
