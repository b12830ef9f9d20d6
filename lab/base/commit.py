# SPDX-License-Identifier: GPL-2.0-or-later
"""The commit of this checkout."""

import os
import subprocess

from lab.base import paths
from lab.base.errors import field_error
from lab.base.host_tool import ended, run_tool

# What names another repository than that of a folder: a git hook has some of them set, for its own.
OTHERS = {f"GIT_{name}" for name in "DIR WORK_TREE COMMON_DIR INDEX_FILE OBJECT_DIRECTORY NAMESPACE PREFIX".split()}


def commit() -> str | None:
    """Return the checkout's commit, marked where files differ from it; None outside a checkout, or without git."""
    return answer("describe", "--always", "--abbrev=12", "--dirty", "--exclude=*")


def answer(*words: str) -> str | None:
    """Return what git says of this checkout in a word; None outside a checkout, or without git; else UserError."""
    done = ended(git(*words))
    found = "" if done.returncode else done.stdout.decode(errors="replace").strip()
    if found and not (found.isprintable() and len(found.split()) == 1):
        raise field_error("git", words[0], found, "the name of a commit, in a word: is this git?")
    return found or None


def git(*words: str) -> "subprocess.CompletedProcess[bytes]":
    """Run git on this checkout, whatever the environment names."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHERS}
    return run_tool("git", "-C", str(paths.REPO), *words, environment=environment)
