# SPDX-License-Identifier: GPL-2.0-or-later
"""The real recordings that tests read where they lie; they are not part of the project."""

import os
from pathlib import Path

import pytest

from lab.base.paths import REPO

FOLDER = Path(os.environ.get("LAB_TRACES_REAL") or REPO / "../shared/traces-real").resolve()
needs_real = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the real recordings are not at {FOLDER}: LAB_TRACES_REAL names their folder"
)


def real(name: str) -> Path:
    """Return a real recording's path."""
    return FOLDER / name


def every(pattern: str) -> list[str]:
    """Name the real recordings of a pattern; none where the folder is missing."""
    return sorted(str(file.relative_to(FOLDER)) for file in FOLDER.glob(pattern)) if FOLDER.is_dir() else []
