# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory that the kernel suspects to be lost (Documentation/dev-tools/kmemleak.rst), where it looks for such."""

import time
from pathlib import Path

from lab.node.guest import mount

DEBUG = Path("/sys/kernel/debug")
KMEMLEAK = DEBUG / "kmemleak"
LEAST_AGE_S = 10  # kmemleak reports nothing younger than 5 s; RCU frees within moments


def begin() -> bool:
    """Forget what booting is suspected of; return whether the kernel looks for leaks."""
    if "debugfs" in Path("/proc/filesystems").read_text() and not KMEMLEAK.exists():
        mount("debugfs", str(DEBUG))
    if not KMEMLEAK.exists():
        return False
    report()
    KMEMLEAK.write_text("clear")
    return True


def report() -> str:
    """Scan twice, since what looks lost may be found again, and return the kernel's report."""
    if not KMEMLEAK.exists():
        return ""
    for _ in range(2):
        time.sleep(LEAST_AGE_S)
        KMEMLEAK.write_text("scan")
    return KMEMLEAK.read_text()


def objects() -> list[str]:
    """Return one line for each object of a report."""
    lines = report().splitlines()
    return [line.rstrip(":") for line in lines if line.startswith("unreferenced object")]
