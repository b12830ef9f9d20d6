# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab.bench.try_own`: how long `lab try` takes from an edit to its answer, and how large its page is.

The module is the tutorial's, edited before each step, so that nothing of it is cached. Trials of the rivals are not
cached in the first answer, and are in the second.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from lab.backends.own_trees import virtual_tree
from lab.base import paths
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab.bench.measured import Figure, store
from lab.kernel import build
from lab.kernel.own.build import build_own
from lab.kernel.own.source import read_source
from lab.kernel.recipe import Recipe

EXAMPLE = paths.REPO / "docs/tutorials/my_cc.c"
TRIALS = 6
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
    """Time a build, the first answer and a comparison, with results below a folder."""
    edited = Edited(folder)
    build_s = _build_s(edited)
    quick_s = _try_s(folder / "quick", edited.edit(), "--quick")
    whole_s = _try_s(folder / "whole", edited.edit(), "--trials", str(TRIALS))
    (page,) = (folder / "whole" / "comparisons").glob("[0-9]*/compare.html")
    return [
        {"name": "rebuilding one module", "value": round(build_s, 1), "unit": "s", "target": "5"},
        {"name": "edit to first answer (--quick)", "value": round(quick_s, 1), "unit": "s", "target": "30"},
        {
            "name": f"one new sender against three on every kind of link, {TRIALS} trials each at most",
            "value": round(whole_s / 60, 1),
            "unit": "min",
            "target": "6",
        },
        {"name": "page", "value": round(page.stat().st_size / 1e6, 2), "unit": "MB", "target": "5"},
    ]


def _build_s(edited: Edited) -> float:
    tree = virtual_tree(build.ensure(Recipe()))
    began_s = time.monotonic()
    build_own(read_source(edited.edit()), tree)
    return time.monotonic() - began_s


def _try_s(results: Path, file: Path, *options: str) -> float:
    began_s = time.monotonic()
    command = [sys.executable, "-m", "lab", "try", str(file), *options]
    environment = {"LAB_RESULTS": str(results)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)
    if done.returncode:
        raise UserError(f"lab try: {done.stderr.strip() or done.stdout.strip()}")
    return time.monotonic() - began_s


def main() -> None:
    """Measure, print and store."""
    with scratch_folder() as folder:
        figures = measure(folder)
    for figure in figures:
        print(f"{figure['name']}: {figure['value']} {figure['unit']} (at most {figure['target']})")
    print(store("try", COMMAND, figures))


if __name__ == "__main__":
    main()
