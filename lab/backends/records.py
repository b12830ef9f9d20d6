# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel under test leaves: copied out of the folder that it may write, plain files and folders only.

A topology's lines run as root in that kernel, and a machine reached over ssh is not this one: either may put links,
FIFOs and devices where a record belongs, at any time. So nothing is opened by its path there, and no link is followed.
"""

import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from lab.base.tar_member import write_member
from lab.node.plan import CallPlan, Plan

INPUTS = ("plan.json", "link", "topology", "own")  # the host has its own
LOG = "kernel.log"  # of a virtual kernel: what the host read of its console; a machine sends its own
PLAIN = "a plain file or folder"
MOST_FILES, MOST_DEPTH, MOST_NAME_BYTES = 1000, 8, 255
LEAST_BYTES = 1 << 30  # of records; a trial of a minute at 100 Mb/s leaves a tenth
TRACES = 8  # times the trace: the capture is as large, and half of the trace's own buffer is reserve
MESSAGE_CHARS = 600
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class TrialError(Exception):
    """A trial without a result; its text is one line."""


@dataclass(frozen=True)
class Entry:
    """A file or folder below the folder that a guest may write."""

    name: str  # below that folder
    parent: int  # the open folder that holds it
    status: os.stat_result


def most_bytes(plan: Plan | CallPlan) -> int:
    """Return what the records of a plan may hold at most."""
    trace: Any = plan.get("trace")
    return LEAST_BYTES + (TRACES * trace["buffer_kb"] * 1024 if trace else 0)


def require_few(rooms: Iterable[Path], most: int, without_name: int = 0) -> None:
    """Raise TrialError where a guest that still runs has written too much; both are in bytes.

    without_name: what it holds in files that it has removed.
    """
    count = Count(most - without_name)
    if without_name > most:
        raise TrialError(f"trial: removed files: bytes={without_name}: must be at most {most} in all")
    for room in rooms:
        with _opened(room) as parent:
            for entry in _entries(parent):
                count.add(entry.name, entry.status.st_blocks * 512)


def take(room: Path, folder: Path, most: int) -> None:
    """Copy records from a guest's folder into one that it never saw; TrialError where one is not a plain file."""
    count = Count(most)
    with _opened(room) as parent:
        for entry in _entries(parent):
            _require_plain(entry.name, entry.status)
            count.add(entry.name, entry.status.st_size)
            if entry.name.split("/")[0] in (*INPUTS, LOG):
                continue
            if stat.S_ISDIR(entry.status.st_mode):
                (folder / entry.name).mkdir(exist_ok=True)
            else:
                _copy(entry, folder / entry.name)


def take_tar(stream: IO[bytes], folder: Path, most: int) -> None:
    """Unpack the records that a machine sends, under the same conditions."""
    count = Count(most)
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            name = member.name.removeprefix("./")
            parts = PurePosixPath(name).parts
            if not (member.isreg() or member.isdir()) or {"/", ".."} & {*parts} or "\0" in name:
                raise _not_plain(name)
            if len(parts) > MOST_DEPTH or max((len(os.fsencode(part)) for part in parts), default=0) > MOST_NAME_BYTES:
                raise _too_deep(name)
            count.add(name, member.size)
            if not parts or parts[0] in INPUTS:
                continue
            try:
                if member.isdir():
                    folder.joinpath(*parts).mkdir(parents=True, exist_ok=True)
                else:
                    write_member(tar, member, folder.joinpath(*parts))
            except (FileExistsError, NotADirectoryError, IsADirectoryError):  # a name of both
                raise _not_plain(name) from None


def require(folder: Path, file: str, otherwise: str) -> None:
    """Raise TrialError with the node's own error, or with `otherwise` where a record is missing."""
    error = folder / "error.txt"
    if error.exists():
        with error.open(errors="replace") as stream:
            message = " ".join(stream.read(MESSAGE_CHARS).split())
        shown = "".join(each if each.isprintable() else "?" for each in message)
        raise TrialError(shown or f"{folder.parent}: full: the node could not even write its error")
    if not (folder / file).is_file():
        raise TrialError(otherwise)


class Count:
    """Files and bytes so far; TrialError above the most that a trial may leave."""

    def __init__(self, most: int) -> None:
        self.most, self.files, self.bytes = most, 0, 0

    def add(self, name: str, size_bytes: int) -> None:
        """Count one more file or folder."""
        self.files, self.bytes = self.files + 1, self.bytes + size_bytes
        if self.files > MOST_FILES:
            raise TrialError(f"trial: files={self.files}: must be at most {MOST_FILES}")
        if self.bytes > self.most:
            raise TrialError(f"trial: {_shown(name)}: bytes={self.bytes}: must be at most {self.most} in all")


def _entries(parent: int, prefix: str = "", depth: int = 1) -> Iterator[Entry]:
    """Yield what an open folder holds, each folder before its content; one that goes away meanwhile is left out."""
    if depth > MOST_DEPTH:
        raise _too_deep(prefix)
    with os.scandir(parent) as found:
        for each in found:
            try:
                status = each.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield Entry(prefix + each.name, parent, status)
            if stat.S_ISDIR(status.st_mode):
                with suppress(FileNotFoundError), _opened(each.name, parent, prefix) as inner:
                    yield from _entries(inner, f"{prefix}{each.name}/", depth + 1)


@contextmanager
def _opened(name: str | Path, parent: int | None = None, prefix: str = "", flags: int = FOLDER) -> Iterator[int]:
    """Open a file or folder of a guest without following a link."""
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError:  # a link, or no right to read
        raise _not_plain(f"{prefix}{name}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy(entry: Entry, target: Path) -> None:
    """Copy a file as it is now, and no more than it has been counted with."""
    target.unlink(missing_ok=True)
    prefix, _, name = entry.name.rpartition("/")
    with _opened(name, entry.parent, prefix and f"{prefix}/", FILE) as source, target.open("xb") as stream:
        _require_plain(entry.name, os.fstat(source))
        left = entry.status.st_size
        while left and (sent := os.sendfile(stream.fileno(), source, None, left)):
            left -= sent


def _require_plain(name: str, status: os.stat_result) -> None:
    """Refuse all but folders and files with one name."""
    single = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    if not (single or stat.S_ISDIR(status.st_mode)):
        raise _not_plain(name)


def _not_plain(name: str) -> TrialError:
    return TrialError(f"trial: {_shown(name)}: must be {PLAIN}")


def _too_deep(name: str) -> TrialError:
    rule = f"at most {MOST_DEPTH} folders deep, each name of at most {MOST_NAME_BYTES} bytes"
    return TrialError(f"trial: {_shown(name)}: must be {rule}")


def _shown(name: str) -> str:
    return (name if name.isprintable() else repr(name))[-MESSAGE_CHARS:]
