# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary folders that end with their command; those of a killed command are found by their free lock."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.cache import held
from lab.base.errors import UserError
from lab.base.remove import remove

PREFIX = "search-lab-scratch-"
LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder, removed when the block ends; the cache may be read-only."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with held(folder / LOCK, wait=False):
            (folder / "work").mkdir()
            yield folder / "work"
    finally:
        remove(folder)


def copy_folder(source: Path, target: Path, *left_out: str) -> None:
    """Copy a folder, without entries of some names; UserError with the first reason, as of a full disk."""
    try:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*left_out))
    except shutil.Error as error:  # it has no strerror
        reason = str(error.args[0][0][2])
        raise UserError(reason.partition("] ")[2] or reason) from None


def clear() -> Iterator[Path]:
    """Remove the folders of killed commands of this user; yield each one."""
    for folder in filter(_is_own, sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))):
        if (folder / LOCK).exists():
            with held(folder / LOCK, wait=False) as free:
                if free:
                    remove(folder)
                    yield folder


def _is_own(path: Path) -> bool:
    """Return whether this user made a folder: another one may put anything into a common folder."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
