# SPDX-License-Identifier: GPL-2.0-or-later
"""The real recordings that tests read. They are no part of the project: `lab traces fetch --all` fetches them once.

`LAB_TRACES_REAL` names another folder that holds them, one folder per collection; without it the tests see the cache of
fetched recordings in that layout.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from lab.traces.datasets import cache_folder, datasets

PUBLIC = [each for each in datasets().values() if each.origin.may_be_passed_on]


def _cache_as_folders() -> Path:
    """Link the fetched files, and the documents of their origins, into a folder per collection."""
    folder = Path(tempfile.mkdtemp(prefix="search-lab-recordings-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    fetched = {f"{each.collection}/{each.file}": each.folder / Path(each.file).name for each in PUBLIC}
    for collection, origin in {each.collection: each.origin for each in PUBLIC}.items():
        documents = cache_folder() / collection / "documents"
        fetched |= {f"{collection}/{name}": documents / name for name in origin.documents}
    for name, file in fetched.items():
        if file.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(file)
    return folder


FOLDER = Path(os.environ.get("LAB_TRACES_REAL") or _cache_as_folders()).resolve()
COMPLETE = all((FOLDER / each.collection / each.file).is_file() for each in PUBLIC)
needs_real = pytest.mark.skipif(not COMPLETE, reason="recordings are missing: run 'lab traces fetch --all'")


def real(name: str) -> Path:
    """Return a real recording's path."""
    return FOLDER / name


def every(pattern: str) -> list[str]:
    """Name the real recordings of a pattern; none where they were not fetched."""
    return sorted(str(file.relative_to(FOLDER)) for file in FOLDER.glob(pattern))
