# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders in the user's cache: named by a digest, whole or absent; and which of them a process uses."""

import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lab.base import paths
from lab.base.entry_points import brought
from lab.base.errors import UserError
from lab.base.remove import remove

DONE = ".complete"
MARKER = "CACHEDIR.TAG"  # bford.info/cachedir: backups leave such a folder out
MARK = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# The cache of search-lab. 'lab clean --cache' removes its content.\n"
)
KINDS = ("builder", "container", "guest-code", "kernel", "modules", r"source-\d+\.\d+", "world")
ENDINGS = r"(\.log|\.lock|\.draft|\.use)?"
NAMED = re.compile(
    r"traces|recordings|reports|mutants|acceleration\.json|(host|vm-[\w.-]+)\.lock|ssh-[0-9a-f]{40}"
    r"|(mmdebstrap|tar|disk|convert|containerlab|senders|src)\.log"
)
_used: dict[Path, IO[str]] = {}  # lock files, open until this process ends


def finished(folder: Path) -> bool:
    """Return whether a cached folder is whole."""
    return (folder / DONE).exists()


@contextmanager
def held(file: Path, wait: bool) -> Iterator[bool]:
    """Hold a lock file while the block runs; yield whether it was free. A killed process releases its lock."""
    with open(file, "a", opener=_plainly) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True


def _plainly(path: str, flags: int) -> int:
    """Open a lock file: no link is followed and no pipe is waited for, whoever has made them."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UserError(f"{path}: must be a plain file, no pipe or device")
    return descriptor


def lock_of(folder: Path) -> Path:
    """Return the lock file of a cached folder."""
    return folder.parent / f".{folder.name}.lock"


def _is_digested(name: str) -> bool:
    """Return whether it is a name with a digest: of a kind of the core, or of a package's images and folders."""
    kinds = "|".join([*KINDS, *map(re.escape, (*brought("lab.images"), *brought("lab.cache")))])
    kernel = "vm-kernel(-recipe)?-[0-9a-f]{8}-search-lab"
    return bool(re.fullmatch(rf"\.?(({kinds})-[0-9a-f]{{16}}|{kernel}){ENDINGS}", name))


def is_ours(path: Path) -> bool:
    """Return whether something in a cache has a name that the lab gives."""
    return path.name == MARKER or bool(_is_digested(path.name) or NAMED.fullmatch(path.name))


def is_cache(root: Path) -> bool:
    """Return whether the lab made a folder: it has the lab's marker, or holds a digest's folder and nothing foreign."""
    marker = root / MARKER
    if marker.is_file() and not marker.is_symlink() and marker.read_text(errors="replace") == MARK:
        return True
    names = list(root.iterdir())
    return any(_is_digested(path.name) for path in names) and all(map(is_ours, names))


def mark(root: Path) -> None:
    """Mark the cache's folder where it is empty or the lab's own already."""
    if not (root / MARKER).exists() and (is_cache(root) or not any(root.iterdir())):
        with suppress(OSError):  # a cache may be read-only
            (root / MARKER).write_text(MARK)


def use(folder: Path) -> None:
    """Keep `lab clean` from a cached folder until this process ends, and note that it was used now."""
    file = use_lock_of(folder)
    with suppress(OSError):  # a cache may be read-only, and then nobody cleans it
        if file not in _used:
            lock = open(file, "a", opener=_plainly)  # noqa: SIM115
            fcntl.flock(lock, fcntl.LOCK_SH)
            _used[file] = lock
        os.utime(file)


def last_used_s(folder: Path) -> float:
    """Return when a process last began to use a cached folder, or when it was made."""
    file = use_lock_of(folder)
    return (file if file.exists() else folder).stat().st_mtime


def use_lock_of(folder: Path) -> Path:
    """Return the file that every user of a cached folder locks with others."""
    return folder.parent / f".{folder.name}.use"


@contextmanager
def publish(folder: Path) -> Iterator[Path | None]:
    """Yield a draft folder to fill, renamed when the block ends without an error; None if the folder exists.

    Two processes that want the same folder wait for each other; a killed one leaves only a draft, cleared here. The
    folder is in use from here on until this process ends.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.parent == paths.cache():
        assert _is_digested(folder.name), f"{folder.name}: 'lab clean' must know its kind"
        mark(folder.parent)
    with held(lock_of(folder), wait=True):  # `lab clean` holds both locks while it removes the folder
        use(folder)
        if finished(folder):
            yield None
            return
        draft = folder.parent / f".{folder.name}.draft"
        remove(draft)
        draft.mkdir()
        try:
            yield draft
        except BaseException:
            remove(draft)
            raise
        (draft / DONE).touch()
        remove(folder)
        draft.rename(folder)


def ensured(folder: Path, fill: Callable[[Path], object]) -> Path:
    """Return a folder that is published; `fill` fills a draft of it where it is not there."""
    with publish(folder) as draft:
        if draft:
            fill(draft)
    return folder
