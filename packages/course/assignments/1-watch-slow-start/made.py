# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebook of the starting point, from its script."""

from pathlib import Path

NOTEBOOK = "notebook.ipynb"


def files() -> dict[str, str]:
    """Return the notebook; the same text each time."""
    import jupytext  # half a second

    notebook = jupytext.read(Path(__file__).parent / "start" / "notebook.py")
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:02}"  # jupytext draws them
    return {NOTEBOOK: jupytext.writes(notebook, "ipynb") + "\n"}
