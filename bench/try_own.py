# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.try_own`: how long `lab try` takes from an edit to its answer, and how large its page is.

The module is the tutorial's, edited before each step, so that nothing of it is cached. The first answer and the
comparison each begin without results.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from lab_compare.link_kinds import KINDS
from lab_try.confined import virtual_tree
from lab_try.module.build import build_own
from lab_try.module.source import read_source

from bench.measured import Figure, show_and_store
from lab.base import paths, sandbox_mode
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab.kernel import build
from lab.kernel.recipe import Recipe

EXAMPLE = paths.REPO / "docs/tutorials/my_cc.c"
TRIALS = 6
LINKS = [name for name, link in KINDS.items() if not link.rival]
MODES = {sandbox_mode.BUBBLEWRAP: "in bubblewrap", sandbox_mode.NONE: "in a virtual kernel (no bubblewrap)"}
COMMAND = "make bench-try"


class Edited:
    """A copy of the example that differs after each edit."""

    def __init__(self, folder: Path) -> None:
        self.file, self.edits = folder / "my_cc.c", 0

    def edit(self) -> Path:
        """Write another content than ever before."""
        self.edits += 1
        self.file.write_text(f"{EXAMPLE.read_text()}/* edit {self.edits} of {time.time_ns()} */\n")
        return self.file


def measure(folder: Path) -> list[Figure]:
    """Time builds, first answers and a comparison, with results below a folder."""
    edited = Edited(folder)
    build_s = {mode: _build_s(edited, mode) for mode in MODES}
    first_s, second_s = (_try_s(folder / "quick", edited.edit(), "--quick") for _ in range(2))
    whole_s = _try_s(folder / "whole", edited.edit(), "--links", ",".join(LINKS), "--trials", str(TRIALS))
    trials = len(list((folder / "whole").glob("compare-*/*/trials/[!.]*")))
    (page,) = (folder / "whole" / "comparisons").glob("[0-9]*/compare.html")
    against = f"one new sender against three on {len(LINKS)} links, at most {TRIALS} trials each"
    return [
        *(_figure(f"rebuilding one module, {label}", build_s[mode], 1, "s", "5") for mode, label in MODES.items()),
        _figure("edit to first answer (--quick), no result known", first_s, 1, "s", "25"),
        _figure("edit to first answer (--quick), the rivals' trials known", second_s, 1, "s", "25"),
        _figure(against, whole_s / 60, 1, "min", "6"),
        {"name": "trials of that comparison", "value": trials, "unit": "trials"},
        _figure("page", page.stat().st_size / 1e6, 2, "MB", "5"),
    ]


def _figure(name: str, value: float, digits: int, unit: str, target: str) -> Figure:
    return {"name": name, "value": round(value, digits), "unit": unit, "target": target}


def _build_s(edited: Edited, mode: str) -> float:
    """Time a build in a sandbox; files that it reads are in memory, since one was built before."""
    os.environ[sandbox_mode.VARIABLE] = mode
    tree = virtual_tree(build.ensure(Recipe()))
    build_own(read_source(edited.edit()), tree)
    began_s = time.monotonic()
    build_own(read_source(edited.edit()), tree)
    del os.environ[sandbox_mode.VARIABLE]
    return time.monotonic() - began_s


def _try_s(results: Path, file: Path, *options: str) -> float:
    began_s = time.monotonic()
    command = [sys.executable, "-m", "lab", "try", str(file), *options]
    environment = {"LAB_RESULTS": str(results)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)
    if done.returncode:
        raise UserError(f"lab try: {done.stderr.strip() or done.stdout.strip()}")
    return time.monotonic() - began_s


if __name__ == "__main__":
    with scratch_folder() as scratch:
        show_and_store("try", COMMAND, measure(scratch))
