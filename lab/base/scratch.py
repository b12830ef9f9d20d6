# SPDX-License-Identifier: GPL-2.0-or-later
"""Temporary folders that end with their command; those of a killed command are found by their free lock.

The name of a worker's has the process identifier of its command, which removes it after it has killed the worker.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
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

    above: a folder that has more room than the one for temporary files. What killed commands left there is removed.
    """
    place = above or Path(tempfile.gettempdir())
    _clear_once(place)
    folder = Path(tempfile.mkdtemp(prefix=_of_workers(os.getppid()) if is_worker() else PREFIX, dir=place))
    try:
        with held(folder / "new", wait=False):
            (folder / "new").rename(folder / LOCK)  # nobody finds it free before it is held
            (folder / "work").mkdir()
            yield folder / "work"
    finally:
        remove(folder)


@contextmanager
def fonts_kept() -> Iterator[None]:
    """Give matplotlib one folder for its fonts where it can have none in the home; workers of the block share it.

    On a machine where nothing can be written it has none: most commands draw nothing.
    """
    homes = [("XDG_CONFIG_HOME", "~/.config"), ("XDG_CACHE_HOME", "~/.cache")]
    usual = [Path(os.path.expanduser(os.environ.get(name) or home), "matplotlib") for name, home in homes]  # noqa: PTH111
    with ExitStack() as stack:
        if FONTS not in os.environ and not all(map(_can_be_written, usual)):
            with suppress(OSError):
                os.environ[FONTS] = str(stack.enter_context(scratch_folder()))
                stack.callback(os.environ.pop, FONTS)
        yield


def _can_be_written(folder: Path) -> bool:
    """Return whether a folder is there, or may be made, without making it: none below where the user happens to be."""
    nearest = next(each for each in (folder, *folder.parents) if os.path.exists(each))  # noqa: PTH110 - it never fails
    return folder.is_absolute() and nearest.is_dir() and os.access(nearest, os.W_OK)


def copy_folder(source: Path, target: Path, *left_out: str) -> None:
    """Copy a folder, without entries of some names; UserError with the first reason, as of a full disk."""
    try:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*left_out))
    except shutil.Error as error:  # it has no strerror
        reason = str(error.args[0][0][2])
        raise UserError(reason.partition("] ")[2] or reason) from None


def clear_of_workers() -> None:
    """Remove the folders of this process's workers, which it has killed."""
    clear(_of_workers(os.getpid()))


def _of_workers(command: int) -> str:
    return f"{PREFIX}{command}-"


def clear(prefix: str = PREFIX) -> list[Path]:
    """Remove the folders of killed commands of this user; return them."""
    return _cleared([*Path(tempfile.gettempdir()).glob(f"{prefix}*"), *paths.results().glob(f"*/*/{prefix}*")])


@cache
def _clear_once(place: Path) -> None:
    _cleared(place.glob(f"{PREFIX}*"))


def _cleared(found: Iterable[Path]) -> list[Path]:
    removed = []
    for folder in sorted(found):
        with suppress(OSError, UserError):  # another command removes it as well
            if _is_own(folder) and (folder / LOCK).exists():
                with held(folder / LOCK, wait=False) as free:
                    if free:
                        remove(folder)
                        removed.append(folder)
    return removed


def _is_own(path: Path) -> bool:
    """Return whether this user made a folder: another one may put anything into a common folder."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
