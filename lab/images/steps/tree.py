# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process and all that it has started take: counted by what they hold, since a file may have no name."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

BLOCK_BYTES = 512  # of st_blocks
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def processes_of(pid: int) -> list[int]:
    """List a process and its descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):  # it has ended
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(folder.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def memory_bytes(pids: Iterable[int], shared: bool = True) -> int:
    """Return the memory of processes; what they share is counted for each, or not at all."""
    pages = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            fields = Path(f"/proc/{pid}/statm").read_text().split()
            pages += int(fields[1]) - (0 if shared else int(fields[2]))
    return pages * PAGE_BYTES


def unlinked_bytes(pids: Iterable[int]) -> int:
    """Return what files without a name take, on disk and in memory, as long as one of these processes holds them."""
    held = {}
    for pid in pids:
        for status in _open_files(pid):
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                held[status.st_dev, status.st_ino] = status.st_blocks * BLOCK_BYTES
    return sum(held.values())


def _open_files(pid: int) -> Iterator[os.stat_result]:
    with suppress(OSError):  # it has ended
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                yield entry.stat()


def named(room: Path) -> Iterator[int]:
    """Yield the bytes that each file and folder below a folder takes; no link is followed."""
    left = [str(room)]
    while left:
        with suppress(OSError), os.scandir(left.pop()) as found:  # removed meanwhile
            for entry in found:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_blocks * BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
