# SPDX-License-Identifier: GPL-2.0-or-later
"""The commit of this checkout, and what it names the program."""

import shutil
import subprocess

from lab.base import paths


def commit() -> str | None:
    """Return the checkout's commit, marked where files differ from it; None outside a checkout, or without git."""
    return _git("describe", "--always", "--abbrev=12", "--dirty", "--exclude=*")


def program() -> str | None:
    """Return git's name of the folder lab as committed, which stays while only other files change."""
    return _git("rev-parse", "--verify", "--quiet", "HEAD:lab")


def _git(*words: str) -> str | None:
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-C", str(paths.REPO), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
