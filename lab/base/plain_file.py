# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a stranger may have made: plain ones only are read, and nothing is written through a link."""

import io
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lab.base.errors import UserError, field_error

MEGABYTE, GIGABYTE = 1_000_000, 1_000_000_000
DRAFT = re.compile(r"\..+\.[0-9a-f]{8}\.part")  # the name of a file that is being written
DEAD_S = 600.0  # a file is written in one go
OPENED = "/proc/self/fd/"


def require_plain(path: Path, most_bytes: int | None = None) -> None:
    """Refuse what is no plain file, or a larger one, before it is read: a pipe or a device may never end.

    So may a file of /proc, which states no bytes. One that does not exist passes: to open it gives the usual error.
    """
    try:
        found = path.exists()
        size_bytes = path.stat().st_size if found else 0
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}: must be a readable file") from None
    if found and not (path.is_file() and (size_bytes or _is_empty(path))):
        raise UserError(f"{path}: must be a plain file, no folder, pipe or device")
    if most_bytes is not None and size_bytes > most_bytes:
        raise field_error(path, "bytes", size_bytes, f"at most {most_bytes}")


def _is_empty(path: Path) -> bool:
    """Return whether a file that states no bytes has none, without waiting for them; true of one without right to read.

    /proc/self/pagemap is read in words of 8 bytes.
    """
    with suppress(OSError), io.FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        return file.read(8) == b""
    return True


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Read a plain file of bounded size; UserError where it is another one, OSError where it cannot be read."""
    require_plain(path, most_bytes)
    with path.open("rb") as file:  # to read makes room for all that it may return
        return file.read(min(most_bytes, max(os.fstat(file.fileno()).st_size, MEGABYTE)))


def require_folder(path: Path) -> None:
    """Refuse a link in place of a folder: what is written there would land elsewhere."""
    if path.is_symlink():
        raise UserError(f"{path}: must be a folder, no link")


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file: it is whole or not there, and no link is followed."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that takes its name when the block ends; an error of writing names the file.

    Until then it has no name, so that a killed command leaves nothing; on a disk that cannot do that, the name of a
    draft, which no other writer has.
    """
    draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with _nameless(path.parent) or draft.open("xb") as file:
            yield file
            file.flush()
            if not draft.exists():
                _give_name(file.fileno(), draft)
        draft.replace(path)
    except OSError as error:
        if str(error.filename or OPENED).startswith((OPENED, str(draft))):
            error.filename = str(path)
        raise
    finally:
        draft.unlink(missing_ok=True)


def _nameless(folder: Path) -> IO[bytes] | None:
    with suppress(OSError):  # to open a draft gives the usual error
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666), "wb")
    return None


def _give_name(descriptor: int, path: Path) -> None:
    opened = f"{OPENED}{descriptor}"
    try:
        os.link(opened, path, src_dir_fd=descriptor)  # given a descriptor, Python follows what /proc has
    except OSError:  # as on a disk without links
        shutil.copyfile(opened, path)


def content_of(folder: Path) -> list[Path]:
    """Return what stands in a folder, in order; not the drafts that a killed write_whole left."""
    return sorted(each for each in folder.iterdir() if not DRAFT.fullmatch(each.name))


def clear_dead_drafts(folder: Path) -> Iterator[Path]:
    """Remove the drafts that killed writers left at any depth of a folder, and yield them; no link is followed."""
    for place, _, names in os.walk(folder):
        for draft in (Path(place, name) for name in names if DRAFT.fullmatch(name)):
            with suppress(OSError):  # it was just renamed, or the folder is another user's
                if time.time() - draft.lstat().st_mtime > DEAD_S:
                    draft.unlink()
                    yield draft


def require_made(folder: Path, place: str) -> Path:
    """Return a file or folder that a stranger's build left in a folder; UserError where a link leads elsewhere."""
    path = folder / place
    if path.resolve() != folder.resolve() / place or not (path.is_file() or path.is_dir()):
        raise _not_made(place, "a link, a special file, or missing")
    return path


def copy_made(folder: Path, name: str, target: Path) -> None:
    """Copy a file that a stranger's program left in a folder; UserError where it is no plain file with one name.

    The file is opened once, by its folder's descriptor: no link is followed, and what was checked is what is copied.
    """
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        made = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    except OSError as error:
        raise _not_made(name, error.strerror or "") from None
    finally:
        os.close(place)
    try:
        status = os.fstat(made)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise _not_made(name, "another kind of file, or one with several names")
        with target.open("xb") as copy, open(made, "rb", closefd=False) as source:
            shutil.copyfileobj(source, copy)
    finally:
        os.close(made)


def _not_made(name: str, found: str) -> UserError:
    return UserError(f"build: {name}: {found}: must be a plain file, which the build makes itself")
