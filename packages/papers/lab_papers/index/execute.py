# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m lab_papers.index.execute NOTEBOOK SOCKETS PARAMETERS`: one notebook in its place, by papermill.

Its kernel is reached by sockets in a folder of its own. By TCP, as papermill's own command has it, the parent finds
free ports and lets go of them for the kernel to take: of notebooks side by side, now and then two are given the same,
and one dies before it begins (nteract/papermill#511).
"""

import json
import sys
from pathlib import Path

import papermill
from traitlets.config import Config

from lab.base.paths import REPO


def execute(notebook: Path, sockets: Path, parameters: dict[str, str]) -> None:
    """Execute a notebook in its place; raises what a cell raises.

    sockets: a folder with a short path (unix(7): 108 bytes with the name of the file).
    """
    manager = {"transport": "ipc", "connection_file": str(sockets / "kernel.json")}
    place = str(notebook).replace("{", "{{").replace("}", "}}")  # papermill has parameters in braces
    papermill.execute_notebook(
        place,
        place,
        parameters,
        cwd=REPO,
        kernel_name="python3",
        language="python",
        progress_bar=False,
        config=Config({"KernelManager": manager}),
    )


if __name__ == "__main__":
    file, folder, given = sys.argv[1:]
    execute(Path(file), Path(folder), json.loads(given))
