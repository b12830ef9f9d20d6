# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders in the user's cache: named by a digest, whole or absent."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DONE = ".complete"


def finished(folder: Path) -> bool:
    """Return whether a cached folder is whole."""
    return (folder / DONE).exists()


@contextmanager
def held(file: Path, wait: bool) -> Iterator[bool]:
    """Hold a lock file while the block runs; yield whether it was free. A killed process releases its lock."""
    with file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def lock_of(folder: Path) -> Path:
    """Return the lock file of a cached folder."""
    return folder.parent / f".{folder.name}.lock"


@contextmanager
def publish(folder: Path) -> Iterator[Path | None]:
    """Yield a draft folder to fill, renamed when the block ends without an error; None if the folder exists.

    Two processes that want the same folder wait for each other; a killed one leaves only a draft, cleared here.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with held(lock_of(folder), wait=True):
        if finished(folder):
            yield None
            return
        draft = folder.parent / f".{folder.name}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        try:
            yield draft
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        (draft / DONE).touch()
        shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
