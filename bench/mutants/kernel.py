# SPDX-License-Identifier: GPL-2.0-or-later
"""The changes of bench/mutants/kernel.toml: each is built in a copy of the checkout, and its tests must fail there."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from bench.mutants.concern import SKIP
from bench.mutants.copies import copied, environment
from bench.mutants.rooms import Tally
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.base.scratch import scratch_folder

FILE = REPO / "bench" / "mutants" / "kernel.toml"
ROOM = "kernel"
SUCCESS, FAILURE = 0, 1  # exit status of pytest; any other means that the tests did not run


class Listed(TypedDict):
    """One change of the list."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]


def run(names: list[str], show: Callable[[str], None]) -> Tally:
    """Make every change of the list, or those whose name holds one of the words, one after the other."""
    listed: list[Listed] = tomllib.loads(FILE.read_text())["change"]
    tally = Tally(ROOM, len(listed))
    chosen = [change for change in listed if not names or any(name in change["name"] for name in names)]
    _require_passing(sorted({word for change in chosen for word in change["tests"] if word.endswith(".py")}))
    for change in chosen:
        key = (change["file"], change["name"], change["old"], change["new"])
        if _noticed(change):
            tally.noticed.append(key)
        else:
            tally.survivors.append(key)
            show(f"survived  {ROOM}  {change['file']}: {change['name']}")
    return tally


def _require_passing(files: list[str]) -> None:
    """Run the tests without a change: one that fails by itself would seem to notice every change."""
    with scratch_folder() as scratch:
        done = _tested(copied(scratch), environment(scratch), files)
    if done.returncode != SUCCESS:
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")) or SKIP in line]
        raise UserError(f"{FILE}: tests: must pass without a change: {' '.join(failed)}"[:300])


def _tested(tree: Path, own: dict[str, str], words: list[str]) -> "subprocess.CompletedProcess[str]":
    return _python(tree, own, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words)


def _noticed(change: Listed) -> bool:
    with scratch_folder() as scratch:
        tree = copied(scratch)
        file = tree / change["file"]
        text = file.read_text()
        if text.count(change["old"]) != 1:
            raise UserError(f"{FILE}: old={change['old']!r}: must stand in {change['file']} once"[:300])
        file.write_text(text.replace(change["old"], change["new"]))
        own = environment(scratch)
        if _python(tree, own, "-m", "lab", "kernel", "build").returncode:
            raise UserError(f"{FILE}: new={change['new']!r}: must compile"[:300])
        done = _tested(tree, own, change["tests"])
    if done.returncode not in (SUCCESS, FAILURE):
        raise UserError(f"{FILE}: tests={change['tests']}: must run: {done.stdout.strip()[-200:]}")
    return done.returncode == FAILURE


def _python(tree: Path, own: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=tree, env=os.environ | own, capture_output=True, text=True, check=False)
