# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command left: processes that were started for some results, run in a folder of them, or have one mounted."""

import os
from pathlib import Path


def running_on(results: Path) -> list[str]:
    """Name the processes that were started for these results, run in a folder of them, or have one mounted."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name != str(os.getpid()) and _concerns(process, str(results).encode()):
            found.append(f"{process.name} {_read(process / 'cmdline').replace(bytes(1), b' ')[:80]!r}")
    return found


def mounted_on(results: Path) -> list[str]:
    """Name what is mounted in a folder, as this process sees it."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split()[4] for line in lines if str(results) in line]


def _concerns(process: Path, results: bytes) -> bool:
    if any(results in _read(process / part) for part in ("environ", "cmdline", "mountinfo")):
        return True
    try:
        return results in bytes((process / "cwd").readlink())  # a virtual kernel without a sandbox, and its processes
    except OSError:
        return False


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # ended meanwhile, or another user's
        return b""
