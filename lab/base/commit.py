# SPDX-License-Identifier: GPL-2.0-or-later
"""The commit of this checkout."""

import shutil
import subprocess

from lab.base import paths


def commit() -> str | None:
    """Return the checkout's commit, marked where files differ from it; None outside a checkout, or without git."""
    if not shutil.which("git"):
        return None
    command = ["git", "-C", str(paths.REPO), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
