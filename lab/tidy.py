# SPDX-License-Identifier: GPL-2.0-or-later
"""Clearing away what killed commands left: drafts of trials and of builds."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from lab import paths
from lab.campaign import clear_drafts


def tidy(with_cache: bool) -> Iterator[Path]:
    """Remove leftovers, and the whole cache where asked; yields what was removed."""
    for run in paths.results().glob("*/*/run.json"):
        if not run.parent.is_symlink():
            yield from clear_drafts(run.parent)
    leftovers = [paths.cache()] if with_cache else sorted(paths.cache().glob(".*.draft"))
    for folder in leftovers:
        if folder.exists():
            shutil.rmtree(folder)
            yield folder
