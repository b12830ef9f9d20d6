# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine lacks, and the command that fixes it."""

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, ptrace, sandbox_mode
from lab.base.errors import UserError
from lab.commands.inventory import check_all
from lab.images import image
from lab.kernel import build

CACHE_BYTES = 5 * 10**9  # two root folders, the kernel's source and its objects
MEMORY_BYTES = 2 * 10**9
USERNS = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")


@dataclass(frozen=True)
class Finding:
    """One requirement, and whether this machine meets it."""

    name: str
    ok: bool
    found: str
    fix: str = ""

    def line(self) -> str:
        """Return it as a line."""
        fix = "" if self.ok else f"  ->  {self.fix}"
        return f"{'ok     ' if self.ok else 'MISSING'}  {self.name:18} {self.found}{fix}"


def examine() -> list[Finding]:
    """Check everything that a run needs."""
    checks = (_machine, _mmdebstrap, _sandbox, _ptrace, _disk, _memory, _files, _world, _kernel)
    return [check() for check in checks]


def _machine() -> Finding:
    found = f"{platform.system()} {platform.machine()}, {len(os.sched_getaffinity(0))} cores"
    fits = platform.system() == "Linux" and platform.machine() == "x86_64"
    return Finding("machine", fits, found, "use a 64-bit x86 Linux")


def _mmdebstrap() -> Finding:
    found = shutil.which("mmdebstrap")
    if not found and build.find() and image.find("world") and image.find("builder"):
        return Finding("mmdebstrap", True, "not installed, and not needed: kernel and root folders are in the cache")
    return Finding("mmdebstrap", bool(found), found or "not installed", "make setup")


def _sandbox() -> Finding:
    try:
        return Finding("sandbox", True, sandbox_mode.less() or "bubblewrap works")
    except UserError as error:
        restricted = USERNS.exists() and USERNS.read_text().strip() == "1"
        fix = "make setup (it makes AppArmor allow bwrap)" if restricted else "make setup, or LAB_SANDBOX=none"
        return Finding("sandbox", False, str(error), fix)


def _ptrace() -> Finding:
    return Finding("ptrace", ptrace.allowed(), "allowed" if ptrace.allowed() else "forbidden", ptrace.ADVICE)


def _disk() -> Finding:
    fix = "free 5 GB, or set LAB_CACHE to a folder with 5 GB free"
    try:
        paths.cache().mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(paths.cache()).free
    except OSError as error:
        return Finding("disk", False, f"{error.filename}: {error.strerror}", fix)
    writable = os.access(paths.cache(), os.W_OK)
    enough = (writable and free > CACHE_BYTES) or build.find() is not None
    kept = "" if writable else ", read-only"
    return Finding("disk", enough, f"{free / 1e9:.1f} GB free for {paths.cache()}{kept}", fix)


def _memory() -> Finding:
    free = available_bytes(Path("/proc/meminfo").read_text())
    found = f"{free / 1e9:.1f} GB free"
    return Finding("memory", free > MEMORY_BYTES, found, "run fewer trials at once: lab run --jobs 1")


def available_bytes(meminfo: str) -> int:
    """Return what programs can have without swapping; free pages alone would count the file cache as used."""
    fields = dict(line.split(":") for line in meminfo.splitlines())
    return int(fields["MemAvailable"].removesuffix("kB")) * 1024


def _files() -> Finding:
    try:
        return Finding("scenarios", True, list(check_all())[-1])
    except UserError as error:
        return Finding("scenarios", False, str(error), "fix that file")


def _world() -> Finding:
    found = image.find("world")
    return Finding("world image", found is not None, str(found.root) if found else "not built", "lab kernel build")


def _kernel() -> Finding:
    found = build.find()
    return Finding("virtual kernel", found is not None, str(found.linux) if found else "not built", "lab kernel build")
