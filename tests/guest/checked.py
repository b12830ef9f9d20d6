# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: a function of ours, and what memory the kernel then finds leaked, if it looks for such."""

import importlib
import time
from pathlib import Path
from typing import Any

from lab.node.guest import mount

DEBUG = Path("/sys/kernel/debug")
KMEMLEAK = DEBUG / "kmemleak"
LEAST_AGE_S = 10  # kmemleak reports nothing younger than 5 s; RCU frees within moments


def checked(module: str, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call it; returns its answer, and kmemleak's report, None where the kernel has none."""
    has_debugfs = "debugfs" in Path("/proc/filesystems").read_text()
    if has_debugfs:
        mount("debugfs", str(DEBUG))
    looks = has_debugfs and KMEMLEAK.exists()
    if looks:
        _leaks()
        KMEMLEAK.write_text("clear")  # of what booting is suspected
    answer = getattr(importlib.import_module(module), function)(**arguments)
    return {"answer": answer, "leaks": _leaks() if looks else None}


def _leaks() -> str:
    """Scan twice: what looks lost may be found again."""
    for _ in range(2):
        time.sleep(LEAST_AGE_S)
        KMEMLEAK.write_text("scan")
    return KMEMLEAK.read_text()
