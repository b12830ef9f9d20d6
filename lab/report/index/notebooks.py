# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks, executed by papermill over the results folder; one that fails is said, and the others stand."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext

from lab.base.paths import REPO
from lab.report.index.artefacts import MANIFEST

NOTEBOOKS = REPO / "analysis"
FOLDER = "notebooks"  # below the results
LONGEST_S = 600
HANDS_OVER = "Artefacts.into("  # a notebook without it has nothing for the page


@dataclass(frozen=True)
class Executed:
    """A notebook's question, what it handed over, and what went wrong (null: nothing)."""

    name: str
    question: str
    artefacts: Sequence[dict[str, Any]]
    fault: str | None = None


def execute_all(results: Path, replay_library: Path | None, notebooks: Path = NOTEBOOKS) -> list[Executed]:
    """Execute every notebook that hands something over, as many at once as there are cores."""
    files = [file for file in sorted(notebooks.glob("[0-9][0-9]-*.ipynb")) if HANDS_OVER in file.read_text()]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda file: _execute(file, results.resolve(), replay_library), files))


def _execute(file: Path, results: Path, replay_library: Path | None) -> Executed:
    out = results / FOLDER / file.stem
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    shutil.copy(file, out)  # to be replaced by the executed one; where papermill fails before, this is what there is
    cells = jupytext.read(file).cells
    asked = next((cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])), "")
    known = {"results_dir": results, "out_dir": out, "replay_library": replay_library}
    given = {name: str(value) for name, value in known.items() if value is not None and f"{name} =" in asked}
    fault = _papermill(file, out / file.name, given)
    manifest = out / MANIFEST
    return Executed(file.stem, _question(cells), json.loads(manifest.read_text()) if manifest.exists() else [], fault)


def _papermill(file: Path, executed: Path, given: dict[str, str]) -> str | None:
    """Why it failed, in a line; null when it did not."""
    environment = os.environ | {"PYTHONPATH": str(REPO), "PYTHONWARNINGS": "ignore"}
    with TemporaryDirectory(prefix="notebook-") as sockets:
        command = [
            sys.executable,
            "-m",
            "lab.report.index.execute",
            str(file),
            str(executed),
            sockets,
            json.dumps(given),
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LONGEST_S, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            return f"took longer than {LONGEST_S} s"
    return None if done.returncode == 0 else _why(executed, done)


def _why(executed: Path, done: subprocess.CompletedProcess[str]) -> str:
    """The error that a cell ended with, else the last that papermill said."""
    if executed.exists():
        outputs = [output for cell in jupytext.read(executed).cells for output in cell.get("outputs", [])]
        for output in outputs:
            if output["output_type"] == "error":
                return f"{output['ename']}: {output['evalue']}"
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit status {done.returncode}"


def _question(cells: Sequence[Any]) -> str:
    """The notebook's heading."""
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")
