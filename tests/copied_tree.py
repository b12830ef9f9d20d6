# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy of the checkout, in which a test adds what a user would add, and the `lab` command of that copy."""

import os
import shutil
import subprocess
from pathlib import Path

from lab.base.paths import REPO

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", "results", "mutants", "tests", ".*_cache")


class CopiedTree:
    """The copy at `path`; its results lie in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.path, self.results = folder / "tree", folder / "results"
        shutil.copytree(REPO, self.path, ignore=LEFT_OUT, symlinks=True)
        (self.path / ".venv").symlink_to((REPO / ".venv").resolve())

    def write(self, file: str, content: str) -> None:
        (self.path / file).write_text(content)

    def append(self, file: str, content: str) -> None:
        with (self.path / file).open("a") as stream:
            stream.write(content)

    def lab(self, *words: str) -> str:
        """Run `lab` of the copy, which must succeed, and return what it printed."""
        done = self._run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refused(self, *words: str) -> str:
        """Run `lab` of the copy, which must refuse, and return its messages."""
        done = self._run(*words)
        assert done.returncode == 2, done.stdout + done.stderr
        return done.stderr

    def _run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.path / "scripts" / "lab", *words],
            cwd=self.path,
            env=os.environ | {"LAB_RESULTS": str(self.results), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
