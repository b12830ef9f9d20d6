# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials that were begun and not finished, and the lock of the run they are in."""

import time
from pathlib import Path

from lab.base.remove import remove

LOCK = ".lock"
CLEAR_ATTEMPTS, CLEAR_PAUSE_S = 20, 0.05  # a kernel that was just killed may still write into its draft


def clear_drafts(folder: Path) -> list[Path]:
    """Remove trials that were not finished; returns their folders. A link in place of `trials` is not followed."""
    trials = folder / "trials"
    drafts = [] if trials.is_symlink() else sorted(trials.glob(".*.draft"))
    for draft in drafts:
        for _ in range(CLEAR_ATTEMPTS):
            remove(draft)
            if not draft.exists():
                break
            time.sleep(CLEAR_PAUSE_S)
    return drafts
