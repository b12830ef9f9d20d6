# SPDX-License-Identifier: GPL-2.0-or-later
"""Removing what killed commands left: unfinished trials and builds, nodes; and what the lab cached."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from lab.backends.choose import running
from lab.base import paths, scratch, strict_json
from lab.base.cache import finished, held, is_cache, is_ours, last_used_s, lock_of, use_lock_of
from lab.base.entry_points import loaded
from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, clear_dead_drafts, read_plain
from lab.base.remove import remove
from lab.report import kept
from lab.runs.run_folder import LOCK, clear_drafts

PILES = ("guest-code", "modules")  # a new one for each change of the code
KEPT = 5  # last used of each pile: several checkouts may share a cache
ENDINGS = (".draft", ".lock", ".use", ".log")


def tidy(with_cache: bool) -> Iterator[Path | str]:
    """Remove leftovers, and with `with_cache` all that the lab cached, but nothing in use; yield what was removed."""
    if with_cache:
        _require_cache(paths.cache())
    for run in _runs():
        with held(run.parent / LOCK, wait=False) as free:
            if free:
                yield from clear_drafts(run.parent)
    yield from _inner_runs()
    for backend in running().values():
        yield from backend.leftovers()
    yield from scratch.clear()
    for folder in (paths.results(), paths.own_cache() / kept.FOLDER):
        yield from clear_dead_drafts(folder)
    yield from _tidy_cache(paths.cache(), with_cache)


def _runs() -> list[Path]:
    """List the run.json of runs in which this user may write: those of another one are that one's to clean."""
    found = sorted(paths.results().glob("*/[0-9]*/run.json"))
    return [run for run in found if os.access(run.parent, os.W_OK)]


def _inner_runs() -> Iterator[Path]:
    """Remove the runs of which packages state that they are steps of a command's, whose answer stands elsewhere."""
    are_inner = list(loaded("lab.inner_runs").values())
    for run in _runs() if are_inner else []:
        try:
            content = strict_json.loads(read_plain(run, 10 * MEGABYTE))
        except (OSError, UserError, ValueError):
            continue
        if not isinstance(content, dict) or not any(is_inner(content) for is_inner in are_inner):
            continue
        with held(run.parent / LOCK, wait=False) as free:
            if free:
                remove(run.parent)
                yield run.parent
        if not any(each.is_dir() and not each.is_symlink() for each in run.parent.parent.iterdir()):
            remove(run.parent.parent)  # what is left names the newest run


def _require_cache(root: Path) -> None:
    if root.exists() and not is_cache(root) and any(root.iterdir()):
        rule = "a folder that the lab made: this one lacks the lab's CACHEDIR.TAG and holds other files"
        raise UserError(f"environment: LAB_CACHE={root}: must be {rule}")


def _tidy_cache(root: Path, everything: bool) -> Iterator[Path]:
    """Remove from a cache of the lab's what has a name of the lab's; nothing from any other folder.

    One of another user's is left as it is, unless all of it is to go, which is refused then.
    """
    if not root.is_dir() or not is_cache(root) or not (everything or os.access(root, os.W_OK)):
        return
    drafts = sorted(root.glob(".*.draft"))
    for found in filter(is_ours, sorted(root.iterdir()) if everything else [*drafts, *_old(root)]):
        yield from _remove(found)


def _old(root: Path) -> Iterator[Path]:
    """Yield all but the last used folders of each pile, with their logs."""
    for pile in PILES:
        folders = [folder for folder in root.glob(f"{pile}-*") if finished(folder)]
        for folder in sorted(folders, key=last_used_s, reverse=True)[KEPT:]:
            yield from (folder, root / f"{folder.name}.log")


def _remove(found: Path) -> Iterator[Path]:
    """Remove a folder or a log that no process builds or uses."""
    folder = found.parent / _cached_name(found.name)
    with ExitStack() as locks:
        if not all(locks.enter_context(held(lock, wait=False)) for lock in (lock_of(folder), use_lock_of(folder))):
            return
        if found.is_symlink() or found.suffix == ".log":
            found.unlink(missing_ok=True)
        elif found.is_dir():
            shutil.rmtree(found, onerror=_unless_gone)
        else:
            return
        yield found


def _unless_gone(_function: object, _path: object, error: tuple[type, BaseException, object]) -> None:
    """Let pass that a file is gone already: what a killed build left may be removed by two commands."""
    if not isinstance(error[1], FileNotFoundError):
        raise error[1]


def _cached_name(name: str) -> str:
    """Return the name of the cached folder that a file of the cache belongs to."""
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name.removeprefix(".")
