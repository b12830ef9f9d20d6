# SPDX-License-Identifier: GPL-2.0-or-later
"""Write one file of a tar archive: Python 3.11.2 of Debian 12 has no filters for extractall."""

import shutil
import tarfile
from pathlib import Path


def write_member(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Write a plain file, and the folders above it; the caller has checked its name, and that no member is a link."""
    source = tar.extractfile(member)
    assert source
    target.parent.mkdir(parents=True, exist_ok=True)
    with source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)
