# SPDX-License-Identifier: GPL-2.0-or-later
"""An archive that the kernel unpacks into memory at boot: cpio's newc form."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

Entry = tuple[str, Path | bytes]  # a name there, and the file, folder or link that it is, or a program's text


def write_archive(stream: BinaryIO, entries: Iterable[Entry]) -> None:
    """Write entries, each folder before what is in it; all belong to root."""
    for number, (name, source) in enumerate(entries, start=1):
        if isinstance(source, bytes):
            mode, content = stat.S_IFREG | 0o755, source
        else:
            mode = source.lstat().st_mode
            content = b"" if stat.S_ISDIR(mode) else _content(source)
        _write_entry(stream, name, number, mode, content)
    _write_entry(stream, "TRAILER!!!", 0, 0, b"")


def _content(source: Path) -> bytes:
    return os.fsencode(source.readlink()) if source.is_symlink() else source.read_bytes()


def _write_entry(stream: BinaryIO, name: str, number: int, mode: int, content: bytes) -> None:
    called = os.fsencode(name) + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(called), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + called
    for part in (head, content):
        stream.write(part + bytes(-len(part) % 4))
