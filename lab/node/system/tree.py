# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process and all that it has started take: counted by what they hold, since a file may have no name."""

import os
import re
import resource
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

BLOCK_BYTES = 512  # of st_blocks
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
MAPPED = re.compile(rb" (\w+):(\w+) (\d+) +/[^\n]* \(deleted\)$", re.MULTILINE)
NO_CORE = 1  # byte: less than a core has; of 0, a program that takes cores would still get one (core(5))
MOST_OPEN_FILES = 4096  # of a process: the system has a limit for all of them together
File = tuple[int, int]  # its device and inode


def limits(file_bytes: int) -> list[str]:
    """Return the command that bounds what each process of another command may take: it cannot be raised again."""
    most = {"fsize": file_bytes, "nofile": MOST_OPEN_FILES, "core": NO_CORE}
    return ["prlimit", *(f"--{name}={_at_most(name, wanted)}" for name, wanted in most.items())]


def _at_most(name: str, wanted: int) -> int:
    """Return what a command shall have of a limit, or all that this process may give."""
    hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name.upper()}"))[1]
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)


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


def tasks_of(pids: Iterable[int]) -> list[Path]:
    """List the threads of processes; each may have open files of its own, and outlive its process's first one."""
    tasks: list[Path] = []
    for pid in pids:
        with suppress(OSError):  # it has ended
            tasks += Path(f"/proc/{pid}/task").iterdir()
    return tasks


def memory_bytes(pids: Iterable[int], shared: bool = True) -> int:
    """Return the memory of processes; what they share is counted for each, or not at all."""
    return sum(max((_pages(task, shared) for task in tasks_of([pid])), default=0) for pid in pids) * PAGE_BYTES


def _pages(task: Path, shared: bool) -> int:
    with suppress(OSError, IndexError):  # a thread that has ended has none
        fields = (task / "statm").read_text().split()
        return int(fields[1]) - (0 if shared else int(fields[2]))
    return 0


def unlinked_bytes(pids: Iterable[int], largest: int) -> int:
    """Return what files without a name take, on disk and in memory, as long as one of these processes holds them.

    largest: what a file may have at most. One that is mapped and not open is counted with it: its size is not known.
    """
    held, unknown = _without_name(pids)
    if unknown:  # at a second look, too: it was not just closed
        unknown &= _without_name(pids)[1]
    return sum(held.values()) + largest * len(unknown)


def _without_name(pids: Iterable[int]) -> tuple[dict[File, int], set[File]]:
    """Return the bytes of each file without a name that is open, and those that are only mapped."""
    held: dict[File, int] = {}
    mapped: set[File] = set()
    for task in tasks_of(pids):
        mapped |= _mapped(task)
        for status in _open_files(task):
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                held[status.st_dev, status.st_ino] = status.st_blocks * BLOCK_BYTES
    return held, mapped - held.keys()


def _open_files(task: Path) -> Iterator[os.stat_result]:
    with suppress(OSError):  # it has ended
        for entry in os.scandir(task / "fd"):
            with suppress(OSError):
                yield entry.stat()


def _mapped(task: Path) -> set[File]:
    """Return each file without a name that a task has mapped (proc_pid_maps(5))."""
    with suppress(OSError):
        found = set(MAPPED.findall((task / "maps").read_bytes()))
        return {(os.makedev(int(major, 16), int(minor, 16)), int(inode)) for major, minor, inode in found}
    return set()
