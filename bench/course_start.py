# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.course_start`: a student's first minutes, from the unpacked archive to the first figure.

The lab, the bundle and the folder are those of `lab course make --bundle`; home and cache are empty, and no package
index can be reached. The notebook's cells are executed one after the other, as a student would.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from bench.measured import Figure, measure_and_store
from lab.base import paths
from lab.base.errors import UserError

STUDENT, FOLDER = "student-1", "1-watch-slow-start"
TARGET_MIN, PATIENCE_S = 5, 300
COMMAND = "make bench-course-start"
NO_INDEX = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"}
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/lab\S*token=[0-9a-f]+")
UNTIL_FIGURE = """
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read("notebook.ipynb", 4)
client = NotebookClient(notebook, kernel_name="python3", timeout=None)
with client.setup_kernel():
    for number, cell in enumerate(notebook.cells):
        client.execute_cell(cell, number)
        if any(kind.startswith("image/") for each in cell.get("outputs", []) for kind in each.get("data", {})):
            break
    else:
        raise SystemExit("the notebook draws no figure")
"""


def measure(folder: Path) -> list[Figure]:
    """Follow the students' page in a new folder; UserError with the output of the step that fails."""
    bundle = _make_course(folder)
    student = {"HOME": str(folder / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **NO_INDEX}
    lab = folder / "search-lab"
    began_s = time.monotonic()
    _run(["tar", "-xzf", "fall/search-lab.tar.gz"], folder, student)
    _run(["make", "setup", f"BUNDLE={bundle}", f"PYTHON={os.path.realpath(sys.executable)}"], lab, student)
    installed_s = time.monotonic() - began_s
    own = folder / STUDENT / FOLDER
    student["PATH"] = f"{lab}/.venv/bin:{student['PATH']}"  # . .venv/bin/activate
    with _jupyter(own, student, folder / "jupyter.log"):
        answered_s = time.monotonic() - began_s
    _run(["python", "-c", UNTIL_FIGURE], own, student)
    figure_s = time.monotonic() - began_s
    return [
        {"name": "bundle of a course", "value": round(bundle.stat().st_size / 1e6), "unit": "MB"},
        {"name": "make setup BUNDLE, without a package index", "value": round(installed_s), "unit": "s"},
        {"name": "JupyterLab answers, after unpacking", "value": round(answered_s), "unit": "s"},
        {"name": "first figure of the notebook, after unpacking", "value": round(figure_s), "unit": "s",
         "target": str(60 * TARGET_MIN)},
    ]  # fmt: skip


def _make_course(folder: Path) -> Path:
    """Make the course, and lay out what one student gets; returns the bundle."""
    (folder / "home").mkdir()
    (folder / "ids.txt").write_text(f"{STUDENT}\n")
    options = ["--out", "fall", "--students", "ids.txt", "--assignments", "1", "--bundle"]
    _run([str(paths.REPO / "scripts/lab"), "course", "make", *options], folder, dict(os.environ))
    (folder / "fall" / "students" / STUDENT).rename(folder / STUDENT)
    return folder / "fall" / "search-lab.bundle"


def _run(argv: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"{argv[0]}: {(done.stderr or done.stdout).strip()[-500:]}")


@contextmanager
def _jupyter(folder: Path, environment: dict[str, str], log: Path) -> Iterator[None]:
    """Run `make start`, and enter the block when JupyterLab's page can be loaded."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    with log.open("w") as sink:
        started = subprocess.Popen(
            ["make", "start"], cwd=folder, env={**environment, "LAB_NOTEBOOK_PORT": port},
            stdout=sink, stderr=sink, start_new_session=True,
        )  # fmt: skip
    try:
        _wait(started, log)
        yield
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def _wait(started: subprocess.Popen[bytes], log: Path) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s and started.poll() is None:
        if (found := ADDRESS.search(log.read_text())) and _answers(found[0]):
            return
        time.sleep(0.2)
    raise UserError(f"make start: {log.read_text().strip()[-500:]}")


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=10) as page:  # noqa: S310 (of this machine)
            return bool(page.status == 200)
    except (URLError, TimeoutError):
        return False


if __name__ == "__main__":
    measure_and_store("course-start", COMMAND, measure)
