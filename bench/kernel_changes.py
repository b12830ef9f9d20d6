# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the tests notice small changes of the C in bench/kernel_changes.toml: `make mutants BENCH=--kernel`.

Each is built in a copy of the checkout, and its tests must fail there. Words choose those whose name holds one.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TypedDict

from bench.measured import run_command
from lab.base import paths
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder

FILE = paths.REPO / "bench" / "kernel_changes.toml"
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", "results", "site", ".*_cache", ".hypothesis", "mutants"
)
SUCCESS, FAILURE = 0, 1  # exit status of pytest; any other means that the tests did not run
Done = subprocess.CompletedProcess[str]


class Change(TypedDict):
    """One change of the list."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]


def main(words: list[str]) -> None:
    """Make each change, after its tests have passed without one; exit status 1 where one is not noticed."""
    listed: list[Change] = tomllib.loads(FILE.read_text())["change"]
    chosen = [change for change in listed if not words or any(word in change["name"] for word in words)]
    with scratch_folder() as scratch:
        files = sorted({word for change in chosen for word in change["tests"] if word.endswith(".py")})
        if (done := _tested(_copied(scratch), scratch, files)).returncode != SUCCESS:
            raise UserError(f"{FILE}: tests: must pass without a change: {done.stdout.strip()[-300:]}")
    survivors = [change for change in chosen if not _noticed(change)]
    for change in survivors:
        print(f"survived  {change['file']}: {change['name']}")
    print(f"kernel    {len(chosen)} changes, {len(survivors)} survived")
    sys.exit(bool(survivors))


def _copied(folder: Path) -> Path:
    """Copy the checkout, with a cache beside it that reads from the user's and writes to its own."""
    tree = folder / "tree"
    shutil.copytree(paths.REPO, tree, ignore=LEFT_OUT, symlinks=True)
    (tree / ".venv").symlink_to((paths.REPO / ".venv").resolve())
    (folder / "cache").mkdir()
    for entry in paths.cache().glob("[!.]*"):
        (folder / "cache" / entry.name).symlink_to(entry)
    return tree


def _noticed(change: Change) -> bool:
    with scratch_folder() as scratch:
        tree = _copied(scratch)
        file = tree / change["file"]
        text = file.read_text()
        if text.count(change["old"]) != 1:
            raise UserError(f"{FILE}: old={change['old']!r}: must stand in {change['file']} once"[:300])
        file.write_text(text.replace(change["old"], change["new"]))
        if _python(tree, scratch, "-m", "lab", "kernel", "build").returncode:
            raise UserError(f"{FILE}: new={change['new']!r}: must compile"[:300])
        done = _tested(tree, scratch, change["tests"])
    if done.returncode not in (SUCCESS, FAILURE):
        raise UserError(f"{FILE}: tests={change['tests']}: must run: {done.stdout.strip()[-200:]}")
    return done.returncode == FAILURE


def _tested(tree: Path, folder: Path, words: list[str]) -> Done:
    return _python(tree, folder, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words)


def _python(tree: Path, folder: Path, *words: str) -> Done:
    own = {"LAB_CACHE": str(folder / "cache"), "LAB_RESULTS": "", "CI": "1"}
    command = [str(tree / "scripts" / "python"), *words]
    return subprocess.run(command, cwd=tree, env=os.environ | own, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    run_command(main, sys.argv[1:])
