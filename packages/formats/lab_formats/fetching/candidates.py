# SPDX-License-Identifier: GPL-2.0-or-later
"""The places of a recording: its origin, a zip archive there, or a folder of files."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from lab.base.errors import UserError
from lab.traces.datasets import Dataset
from lab_formats.fetching.download import Refused

MOST_FILES = 200_000  # of a mirror: the root folder of a disk is a mistake


@dataclass(frozen=True)
class Candidate:
    """A file that may be the recording; `name_matches`: its name is right, so that another content is an error."""

    place: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    name_matches: bool


class Mirror:
    """A folder with the files, in the layout of the collections or any other: found by path, name or size."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UserError(f"--mirror={folder}: must be a folder")
        self.folder = folder
        self._files: list[tuple[Path, int]] | None = None

    def candidates(self, collection: str, file: str, at_origin: str, size: int) -> Iterator[Candidate]:
        """Yield the files that may be the recording, the likeliest first."""
        placed = [self.folder / collection / file, self.folder / at_origin]
        for path in placed:
            if path.is_file():
                yield self._candidate(path, name_matches=True)
        names = {PurePosixPath(file).name, PurePosixPath(at_origin).name}
        for path, found_size in self._walked():
            if found_size == size and path not in placed:
                yield self._candidate(path, name_matches=path.name in names)

    def _candidate(self, path: Path, name_matches: bool) -> Candidate:
        return Candidate(str(path), lambda: path.open("rb"), name_matches)

    def _walked(self) -> list[tuple[Path, int]]:
        if self._files is None:
            self._files = []
            for root, _, names in os.walk(self.folder):
                files = [path for path in (Path(root, name) for name in names) if path.is_file()]
                self._files += [(path, path.stat().st_size) for path in files]
                if len(self._files) > MOST_FILES:
                    raise UserError(f"--mirror={self.folder}: must be a folder of fewer than {MOST_FILES} files")
        return self._files


def in_archive(archive: Path, dataset: Dataset) -> Iterator[Candidate]:
    """Yield the members of an archive that may be a recording: those that end in its path, then those of its size."""
    try:
        members = zipfile.ZipFile(archive).infolist()
    except (zipfile.BadZipFile, OSError):
        raise Refused(f"{dataset.url}: must be a zip archive: {dataset.name} not fetched") from None
    ends = [member for member in members if f"/{member.filename}".endswith(f"/{dataset.path}")]
    sized = [member for member in members if member.file_size == dataset.own.bytes and member not in ends]
    for member in [*ends, *sized]:
        yield Candidate(f"{dataset.url}: {member.filename}", _opener(archive, member), member in ends)


def _opener(archive: Path, member: zipfile.ZipInfo) -> Callable[[], AbstractContextManager[IO[bytes]]]:
    def opened() -> AbstractContextManager[IO[bytes]]:
        try:
            return zipfile.ZipFile(archive).open(member)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError):  # damaged, encrypted, packed in another way
            return io.BytesIO(b"")

    return opened
