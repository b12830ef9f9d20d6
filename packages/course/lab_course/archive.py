# SPDX-License-Identifier: GPL-2.0-or-later
"""Read wanted files of a stranger's folder, zip or tar into memory: nothing is unpacked, no link followed, all bounded.

What is no plain file, is too large or has a name that leaves the folder is a fault in one line, and the rest is read.
"""

import gzip
import io
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NoReturn

from lab.base.errors import UserError, field_error
from lab.base.plain_text import cut, escaped

MOST_ARCHIVE_BYTES = 64 << 20
MOST_UNPACKED_BYTES = 128 << 20  # of a tar, which is read from its begin to its end; of all wanted files together
MOST_ENTRIES, MOST_DEPTH = 10_000, 4
NAME_CHARS = 120
# Folders that the lab and other programs write into a student's: links and large files are usual there.
NOT_THE_STUDENTS = {"results", "grade", "__MACOSX", ".ipynb_checkpoints"}
FORMS = "a folder, .zip or .tar.gz"
PLAIN, INSIDE = "a plain file, no link or device", "a name inside the submission"
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
GZIP = b"\x1f\x8b"
ENCRYPTED = 1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others take memory as their header states it
DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, RuntimeError, ValueError, OverflowError)
Sizes = Mapping[str, int]  # of each wanted file name, the most bytes
# Of a zip's directory, each entry of which takes memory before anything is read: at least 46 per entry (PKWARE APPNOTE,
# 4.3.12), and the name: ten thousand with long names.
MOST_DIRECTORY_BYTES = 2 << 20


@dataclass(frozen=True)
class Entry:
    """One wanted file."""

    name: PurePosixPath
    content: bytes


@dataclass(frozen=True)
class Other:
    """A file of another name, or an empty one where what was found is no file of a student's: neither is read."""

    name: str


NO_FILE = Other("")


class NoSparse(tarfile.TarInfo):
    """A member that is no sparse file: the map of one, which tarfile reads whole, takes 70 times its bytes."""

    def _refuse(self, *_given: object) -> NoReturn:
        raise tarfile.ReadError("a sparse file")

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse


Found = Entry | Other | str  # or a fault in one line


def read(path: Path, sizes: Sizes) -> list[Found]:
    """Read every file of a wanted name, and name the others; UserError where the submission itself cannot be read."""
    try:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            return _bounded(_folder(path, sizes))
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path}: must be {FORMS}, and no link")
        if status.st_size > MOST_ARCHIVE_BYTES:
            raise field_error(path, "bytes", status.st_size, f"at most {MOST_ARCHIVE_BYTES}")
        return _archive(path, sizes)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}: must be {FORMS}") from None


def _archive(path: Path, sizes: Sizes) -> list[Found]:
    with path.open("rb") as stream:
        begin = stream.read(2)
        stream.seek(0)
        try:
            if begin == b"PK":
                with opened_zip(path) as archive:
                    return _bounded(_zip(archive, sizes))
            unpacked = stream if begin != GZIP else io.BytesIO(_unpacked(path, stream))
            with tarfile.open(fileobj=unpacked, mode="r:", tarinfo=NoSparse) as tar:
                return _bounded(_tar(tar, sizes))
        except DAMAGED as error:
            raise UserError(f"{path}: {_short(str(error))}: must be {FORMS}, and whole") from None


def _unpacked(path: Path, stream: IO[bytes]) -> bytes:
    with gzip.GzipFile(fileobj=stream) as unzipped:
        content = unzipped.read(MOST_UNPACKED_BYTES + 1)
    if len(content) > MOST_UNPACKED_BYTES:
        rule = f"at most {MOST_UNPACKED_BYTES} when unpacked"
        raise field_error(path, "bytes", f"more than {MOST_UNPACKED_BYTES}", rule)
    return content


def _bounded(found: Iterator[Found]) -> list[Found]:
    """Collect what is found, and end at the most entries, or bytes of wanted files, that a submission may have."""
    kept: list[Found] = []
    held_bytes = 0
    for count, each in enumerate(found, 1):
        if each != NO_FILE:
            kept.append(each)
        held_bytes += len(each.content) if isinstance(each, Entry) else 0
        if count >= MOST_ENTRIES:
            kept.append(f"entries: must be at most {MOST_ENTRIES}: the rest is not read")
            break
        if held_bytes > MOST_UNPACKED_BYTES:
            kept.append(f"bytes: must be at most {MOST_UNPACKED_BYTES} in all: the rest is not read")
            break
    return kept


def _folder(path: Path, sizes: Sizes) -> Iterator[Found]:
    with _opened(path, FOLDER_FLAGS) as top:
        yield from _folder_entries(top, PurePosixPath(), sizes, 1)


def _folder_entries(folder: int, above: PurePosixPath, sizes: Sizes, depth: int) -> Iterator[Found]:
    with os.scandir(folder) as scan:
        rows = sorted(scan, key=lambda each: each.name)
    for row in rows:
        name, mode = above / row.name, row.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            if row.name in NOT_THE_STUDENTS:
                continue
            if depth == MOST_DEPTH:
                yield _fault(str(name), f"below at most {MOST_DEPTH - 1} folders")
                continue
            with _opened(row.name, FOLDER_FLAGS, folder) as inner:
                yield from _folder_entries(inner, name, sizes, depth + 1)
        elif not stat.S_ISREG(mode):
            yield _fault(str(name), PLAIN)
        else:
            yield _file(folder, row.name, name, sizes) if row.name in sizes else Other(_short(str(name)))


def _file(folder: int, own: str, name: PurePosixPath, sizes: Sizes) -> Found:
    with _opened(own, FILE_FLAGS, folder) as file, os.fdopen(os.dup(file), "rb") as stream:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return _fault(str(name), PLAIN)
        return _entry(name, found.st_size, sizes[own], stream.read)


def _zip(archive: zipfile.ZipFile, sizes: Sizes) -> Iterator[Found]:
    for info in archive.infolist():
        text = info.filename.replace("\\", "/")
        name, kind = PurePosixPath(text), stat.S_IFMT(info.external_attr >> 16)
        if text.endswith("/") or kind == stat.S_IFDIR or _not_the_students(name):  # no is_dir(): a name may be empty
            yield NO_FILE
        elif kind not in (0, stat.S_IFREG):
            yield _fault(text, PLAIN)
        elif _leaves(text):
            yield _fault(text, INSIDE)
        elif name.name not in sizes:
            yield Other(_short(text))
        elif info.compress_type not in METHODS:
            yield _fault(text, "stored or deflated in the zip")
        elif info.flag_bits & ENCRYPTED:
            yield _fault(text, "readable without a password")
        else:
            yield _zip_entry(archive, info, name, sizes[name.name])


def _zip_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: PurePosixPath, most_bytes: int) -> Found:
    try:
        with archive.open(info) as stream:
            return _entry(name, info.file_size, most_bytes, stream.read)
    except DAMAGED as error:
        return f"{_short(info.filename)}: {_short(str(error))}: must be a whole file of the zip: it is not read"


def _tar(archive: tarfile.TarFile, sizes: Sizes) -> Iterator[Found]:
    for member in archive:
        name = PurePosixPath(member.name)
        if member.isdir() or _not_the_students(name):
            yield NO_FILE
        elif not member.isreg():
            yield _fault(member.name, PLAIN)
        elif _leaves(member.name):
            yield _fault(member.name, INSIDE)
        elif name.name not in sizes:
            yield Other(_short(member.name))
        else:
            content = archive.extractfile(member)
            assert content
            yield _entry(name, member.size, sizes[name.name], content.read)


def _entry(name: PurePosixPath, size: int, most_bytes: int, content: Callable[[int], bytes]) -> Found:
    """Read a file; a fault where it has more bytes than it may, whatever its header states."""
    whole = content(most_bytes + 1) if size <= most_bytes else b""
    if size > most_bytes or len(whole) > most_bytes:
        shown = max(size, len(whole))
        return f"{field_error(_short(str(name)), 'bytes', shown, f'at most {most_bytes}')}: it is not read"
    return Entry(name, whole)


def _not_the_students(name: PurePosixPath) -> bool:
    return not NOT_THE_STUDENTS.isdisjoint(name.parts[:-1])


def _leaves(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or "\0" in name or name[1:2] == ":"


def _fault(name: str, rule: str) -> str:
    return f"{_short(name)}: must be {rule}: it is not read"


def _short(text: str) -> str:
    return cut(escaped(text), NAME_CHARS)


@contextmanager
def _opened(name: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Stream(io.FileIO):
    """A file that refuses a large read while `zipfile` reads the directory, which it does in one piece."""

    most_bytes: int | None = MOST_DIRECTORY_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as a file does."""
        if self.most_bytes is not None and size is not None and size > self.most_bytes:
            raise field_error(str(self.name), "directory_bytes", size, f"at most {self.most_bytes}: fewer files")
        return super().read(size)


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield a zip; UserError where its directory is too large, zipfile's own errors where it is damaged."""
    with _Stream(path) as stream, zipfile.ZipFile(stream) as archive:
        stream.most_bytes = None
        yield archive
