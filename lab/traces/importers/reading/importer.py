# SPDX-License-Identifier: GPL-2.0-or-later
"""The contract of an importer, and the part of a file by which it recognises its format."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab.traces.importers.reading.text import UTF_16, open_bytes
from lab.traces.recording import Recording

HEAD_BYTES = 65_536
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
