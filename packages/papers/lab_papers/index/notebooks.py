# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks, executed over the results folder where their source or their runs changed; a fault of one is reported.

A notebook joins the page by its place in the folder: NN-<name>.py, with a heading (its title on the page), a first code
cell with the parameters, and a call of Artefacts.into(out_dir). In `scenarios`, among the parameters, it declares the
runs that it needs: a dictionary of lists, of each of which the first scenario that has been run is taken.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import UserError
from lab.base.host_tool import run_tool
from lab.base.paths import REPO
from lab.base.plain_file import require_folder
from lab.base.scratch import scratch_folder
from lab.base.workers import map_in_processes
from lab.images import image
from lab.kernel import build
from lab.report import kept
from lab.report.kept import key_of
from lab.tables.digests import SUMS, digest_of
from lab_papers.evaluation.kept import FOLDER as EVALUATION
from lab_papers.index.manifest import MANIFEST, Artefact, read_manifest

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOKS = REPO / "analysis"
PACKAGE = Path(__file__).parents[2]
FOLDER = "notebooks"  # below the results
LONGEST_S = 600
HANDS_OVER = "Artefacts.into("  # a notebook without this call has nothing for the page
Needs = Mapping[str, Sequence[str]]
LIBRARIES = ("ipykernel", "jupytext", "papermill")


@dataclass(frozen=True)
class Notebook:
    """What a notebook declares: its title, its parameters, and the scenarios that it needs."""

    file: Path
    title: str
    parameters: str  # the source of its first code cell
    scenarios: Needs

    @classmethod
    def read(cls, file: Path) -> "Notebook":
        """Read a notebook's declarations, without executing it."""
        cells = _cells(file)
        parameters = next((cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])), "")
        return cls(file, _heading(cells), parameters, _scenarios(parameters))


@dataclass(frozen=True)
class Executed:
    """A notebook with the artefacts that it handed over, and its fault (null: none)."""

    name: str
    title: str
    artefacts: Sequence[Artefact]
    scenarios: Needs = field(default_factory=dict)
    fault: str | None = None


def notebooks_of(folder: Path) -> list[Path]:
    """Return the notebooks that hand something over to the page, in the order of their names."""
    return [file for file in sorted(folder.glob("[0-9][0-9]-*.py")) if HANDS_OVER in file.read_text(encoding="utf-8")]


def execute_all(results: Path, replay_library: Path | None, notebooks: Path = NOTEBOOKS) -> list[Executed]:
    """Execute what changed of a folder's notebooks that hand something over, one on each core."""
    return map_in_processes(partial(_executed, results.resolve(), replay_library), notebooks_of(notebooks))


def _executed(results: Path, replay_library: Path | None, file: Path) -> Executed:
    """Execute a notebook, unless it was executed over the same before; one with a fault is executed again."""
    notebook = Notebook.read(file)
    out = results / FOLDER / file.stem
    read = [name for names in notebook.scenarios.values() for name in names]
    key, fault = notebook_key(file, results, read, replay_library), None
    if kept.kept(out, key) is None:
        fault = _execute(notebook, results, out, replay_library)
        if fault is None:
            kept.keep(out, key, sorted(each for each in out.rglob("*") if each.is_file()))
    return Executed(file.stem, notebook.title, read_manifest(out / MANIFEST), notebook.scenarios, fault)


def _execute(notebook: Notebook, results: Path, out: Path, replay_library: Path | None) -> str | None:
    """Execute a notebook into an empty folder; returns why it failed, in a line, or null."""
    import jupytext

    require_folder(out.parent)
    try:
        shutil.rmtree(out)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{out}: {error.strerror or error}: must be a folder that can be removed") from None
    out.mkdir(parents=True)
    target = out / f"{notebook.file.stem}.ipynb"
    jupytext.write(jupytext.read(notebook.file), target)  # what there is where papermill fails at once
    known = {"results_dir": results, "out_dir": out, "replay_library": replay_library}
    given = {
        name: str(value) for name, value in known.items() if value is not None and f"{name} =" in notebook.parameters
    }
    return _papermill(target, given)


def _papermill(notebook: Path, given: Mapping[str, str]) -> str | None:
    """Execute a notebook in its place; returns why it failed, in a line, or null."""
    with scratch_folder() as sockets:
        own = {"TMPDIR": str(sockets), "IPYTHONDIR": str(sockets)}  # a killed one leaves nothing elsewhere
        # ipykernel takes the first place of the path away where that is the current folder, which is the checkout.
        own |= {"PYTHONPATH": f"{PACKAGE}:{REPO}", "PYTHONWARNINGS": "ignore"}
        words = ["-m", "lab_papers.index.execute", str(notebook), str(sockets), json.dumps(given)]
        done = run_tool(sys.executable, *words, environment=os.environ | own, limit_s=LONGEST_S)
    if done.returncode < 0:
        return f"killed, by this machine or because it took longer than {LONGEST_S} s"
    return None if done.returncode == 0 else _why(notebook, done)


def _why(executed: Path, done: "subprocess.CompletedProcess[bytes]") -> str:
    """Return the error that ended a cell, else the last line of papermill."""
    outputs = [output for cell in _cells(executed) for output in cell.get("outputs", [])]
    for output in outputs:
        if output["output_type"] == "error":
            return f"{output['ename']}: {output['evalue']}"
    lines = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"exit status {done.returncode}"


def _cells(file: Path) -> "list[NotebookNode]":
    import jupytext  # half a second: only a command that reads a notebook loads it

    cells: list[NotebookNode] = jupytext.read(file).cells
    return cells


def _heading(cells: "Sequence[NotebookNode]") -> str:
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), "")


def _scenarios(parameters: str) -> Needs:
    for node in ast.walk(ast.parse(parameters)):
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "scenarios" for target in node.targets):
            found: Needs = ast.literal_eval(node.value)
            return found
    return {}


def notebook_key(file: Path, results: Path, scenarios: Iterable[str], replay_library: Path | None) -> str:
    """Return the digest of all that a notebook can read: its source, stored runs, what was evaluated, the kernel.

    scenarios: those whose runs it reads; none: all.
    """
    names = sorted(set(scenarios)) or ["*"]
    runs = [file for name in names for file in sorted(results.glob(f"{name}/*/run.json"))]
    stored = [part for run in runs for part in _stored(run)]
    read = [*stored, *sorted((results / EVALUATION).glob("*")), *([replay_library] if replay_library else ())]
    used = [version(name) for name in LIBRARIES]
    built = [str(build.find()), str(image.find("world"))]
    return key_of(str(results), digest_of(file), [[str(one), digest_of(one)] for one in read], used, built)


def _stored(run: Path) -> Iterator[Path]:
    """Yield the files that change with a run: its description, and the digests of each trial (else its record)."""
    yield run
    for trial in sorted(run.parent.glob("trials/*/trial.json")):
        sums = trial.with_name(SUMS)
        yield sums if sums.exists() else trial
