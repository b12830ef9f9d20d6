# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials that were begun and not finished, and the lock of the run they are in."""

import shutil
import time
from pathlib import Path

LOCK = ".lock"
CLEAR_ATTEMPTS, CLEAR_PAUSE_S = 20, 0.05  # a kernel that was just killed may still write into its draft


def clear_drafts(folder: Path) -> list[Path]:
    """Remove trials that were not finished; returns their folders."""
    drafts = sorted((folder / "trials").glob(".*.draft"))
    for draft in drafts:
        for _ in range(CLEAR_ATTEMPTS):
            shutil.rmtree(draft, ignore_errors=True)
            if not draft.exists():
                break
            time.sleep(CLEAR_PAUSE_S)
    return drafts
