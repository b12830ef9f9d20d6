# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders in folders, deeper than a path may be."""

import os
from pathlib import Path


def deepened(folder: Path, depth: int) -> None:
    """Make so many folders, each in the one before."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
