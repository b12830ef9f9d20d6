# SPDX-License-Identifier: GPL-2.0-or-later
"""The contract of an importer, and the part of a file by which it recognises its format."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from lab.base.errors import UserError
from lab.base.plain_file import require_plain
from lab.traces.recording import Recording

HEAD_BYTES = 65_536
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # what PowerShell writes
Option = str | int | float | bool | tuple[str, ...] | Path


class Head:
    """The beginning of a file, by which importers recognise it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with open_bytes(path) as file:
            self.data = file.read(HEAD_BYTES)
            self.whole = not file.read(1)

    @cached_property
    def lines(self) -> list[str]:
        """The whole lines of the head; none where it is not text."""
        try:
            encoding = "utf-16" if self.data.startswith(UTF_16) else "utf-8-sig"
            text = self.data.decode(encoding, errors="strict" if self.whole else "ignore")
        except UnicodeDecodeError:
            return []
        if "\0" in text:
            return []
        lines = text.splitlines()
        return lines if self.whole else lines[:-1]

    @property
    def first(self) -> str:
        """The first line, without blanks around it."""
        return self.lines[0].strip() if self.lines else ""

    @cached_property
    def header(self) -> frozenset[str]:
        """Return the fields of the first line, read as a CSV's header."""
        return frozenset(word.strip().strip('"') for word in self.first.split(","))


@dataclass(frozen=True)
class Importer:
    """One format: how it is recognised by content, and read.

    `read` takes a path and, by keyword, the format's options; it returns a Recording or raises UserError.
    """

    name: str
    reads: str  # the file, in a few words
    gives: str  # the recording, in a few words
    fits: Callable[[Head], bool]
    read: Callable[..., Recording]
    ambiguous: str = ""  # what else a file that fits may be: then the format must be given


@dataclass(frozen=True)
class Formats:
    """What a package brings: its formats, the folder of all code that they run, and which of them a file resembles."""

    importers: Callable[[], Iterable[Importer]]
    code: Path
    resembled: Callable[[Head], tuple[str, ...]]


def _zstd(raw: IO[bytes]) -> Any:
    import pyarrow as pa  # which most files do not need

    return pa.input_stream(raw, compression="zstd")


PACKED: dict[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {  # by the first bytes
    b"\x1f\x8b": ("whole gzip", gzip.open),
    b"\xfd7zXZ\0": ("whole xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("whole zstd", _zstd),
    b"": ("readable", nullcontext),
}


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked where it is packed by gzip, xz or zstd; UserError where it cannot be read."""
    require_plain(path)
    kind = "readable"
    try:
        with path.open("rb") as raw:
            first = raw.read(max(map(len, PACKED)))
            raw.seek(0)
            kind, opened = next(each for sign, each in PACKED.items() if first.startswith(sign))
            with opened(raw) as file:
                yield file
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}: must be a {kind} file") from None
