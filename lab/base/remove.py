# SPDX-License-Identifier: GPL-2.0-or-later
"""Removal of folders that a stranger's program may have written."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder whatever a stranger has left in it: any depth, any number, any rights. No link is followed."""
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if not folder.exists():
        return
    tidy = ["rm", "-rf", "--", str(folder)]
    opened = ["chmod", "-R", "u+rwx", "--", str(folder)]  # it holds folders that their own owner may not enter
    as_other_users = ["unshare", "--map-root-user", "--map-auto", *tidy]  # of this user's: mmdebstrap's root folder
    for command in (tidy, opened, tidy, as_other_users):
        subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
        if not folder.exists():
            return
