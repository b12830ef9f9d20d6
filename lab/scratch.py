# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that end with the command that uses them; a killed one's are found by their free lock."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab import paths
from lab.cache import held, lock_of

PREFIX = "scratch-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder of the cache's, removed when the block ends."""
    folder = paths.cache() / f"{PREFIX}{secrets.token_hex(8)}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with held(lock_of(folder), wait=False):
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove(folder)


def clear() -> Iterator[Path]:
    """Remove what killed commands left; yields each folder that was removed."""
    for folder in sorted(paths.cache().glob(f"{PREFIX}*/")):
        with held(lock_of(folder), wait=False) as free:
            if free:
                _remove(folder)
                yield folder


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock_of(folder).unlink(missing_ok=True)
