# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary folders that end with their command; those of a killed command are found by their free lock.

The name of a worker's has the process identifier of its command, which removes it after it has killed the worker.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.base import paths
from lab.base.cache import held
from lab.base.errors import UserError
from lab.base.remove import remove
from lab.base.worker import is_worker

PREFIX = "search-lab-scratch-"
LOCK = "lock"
FONTS = "MPLCONFIGDIR"  # of matplotlib, which looks there first


@contextmanager
def scratch_folder(above: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder, removed when the block ends; the cache may be read-only.

    above: a folder of the results that has more room than the one for temporary files.
    """
    folder = Path(tempfile.mkdtemp(prefix=_of_workers(os.getppid()) if is_worker() else PREFIX, dir=above))
    try:
        with held(folder / LOCK, wait=False):
            (folder / "work").mkdir()
            yield folder / "work"
    finally:
        remove(folder)


@contextmanager
def fonts_kept() -> Iterator[None]:
    """Give matplotlib one folder for its fonts where it can have none in the home: that of a killed worker stays."""
    homes = [("XDG_CONFIG_HOME", "~/.config"), ("XDG_CACHE_HOME", "~/.cache")]
    usual = [Path(os.environ.get(name) or usual).expanduser() / "matplotlib" for name, usual in homes]
    if FONTS in os.environ or all(map(_is_writable, usual)):
        yield
        return
    with scratch_folder() as folder:
        os.environ[FONTS] = str(folder)
        try:
            yield
        finally:
            del os.environ[FONTS]


def _is_writable(folder: Path) -> bool:
    with suppress(OSError, RuntimeError):  # a user may have no home
        folder.mkdir(parents=True, exist_ok=True)
    return os.access(folder, os.W_OK)


def copy_folder(source: Path, target: Path, *left_out: str) -> None:
    """Copy a folder, without entries of some names; UserError with the first reason, as of a full disk."""
    try:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*left_out))
    except shutil.Error as error:  # it has no strerror
        reason = str(error.args[0][0][2])
        raise UserError(reason.partition("] ")[2] or reason) from None


def clear_of_workers() -> None:
    """Remove the folders of this process's workers, which it has killed."""
    for _ in clear(_of_workers(os.getpid())):
        pass


def _of_workers(command: int) -> str:
    return f"{PREFIX}{command}-"


def clear(prefix: str = PREFIX) -> Iterator[Path]:
    """Remove the folders of killed commands of this user; yield each one."""
    found = [*Path(tempfile.gettempdir()).glob(f"{prefix}*"), *paths.results().glob(f"*/*/{prefix}*")]
    for folder in filter(_is_own, sorted(found)):
        if (folder / LOCK).exists():
            with held(folder / LOCK, wait=False) as free:
                if free:
                    remove(folder)
                    yield folder


def _is_own(path: Path) -> bool:
    """Return whether this user made a folder: another one may put anything into a common folder."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
