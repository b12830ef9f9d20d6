# SPDX-License-Identifier: GPL-2.0-or-later
"""Removing what killed commands left: drafts of trials and of builds, scratch folders, nodes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from lab.backends.real import leftovers as real_leftovers
from lab.base import paths, scratch
from lab.base.cache import held, lock_of
from lab.runs.run_folder import LOCK, clear_drafts


def tidy(with_cache: bool) -> Iterator[Path | str]:
    """Remove leftovers, and the whole cache if `with_cache`; yield what was removed. Nothing in use is removed."""
    for run in paths.results().glob("*/[0-9]*/run.json"):
        with held(run.parent / LOCK, wait=False) as free:
            if free:
                yield from clear_drafts(run.parent)
    yield from real_leftovers()
    yield from scratch.clear()
    pattern = "*" if with_cache else ".*.draft"
    for found in sorted(paths.cache().glob(pattern)):
        yield from _remove(found)


def _remove(found: Path) -> Iterator[Path]:
    folder = found.parent / found.name.removeprefix(".").removesuffix(".draft").removesuffix(".lock")
    with held(lock_of(folder), wait=False) as free:
        if free and found.is_dir():
            shutil.rmtree(found)
            yield found
        elif free and found.suffix == ".log":
            found.unlink()
            yield found
