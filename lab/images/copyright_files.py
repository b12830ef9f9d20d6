# SPDX-License-Identifier: GPL-2.0-or-later
"""The copyright files of an image's packages: beside its root folder, which a guest sees, and not in it."""

import shutil
from pathlib import Path

FOLDER = "copyright"  # below an image's folder: <package>.copyright
DOCS = "usr/share/doc"


def take(root: Path) -> None:
    """Move the copyright file of each package out of a root folder, and leave no other document in it.

    A package without one shares that of another package of its source, to whose folder a link leads.
    """
    place = root.parent / FOLDER
    place.mkdir()
    for file in sorted((root / DOCS).glob("*/copyright")):
        if not (file.is_symlink() or file.parent.is_symlink()):
            shutil.move(file, place / f"{file.parent.name}.copyright")
    for entry in (root / DOCS).iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
