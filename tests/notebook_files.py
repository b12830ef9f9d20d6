# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks as jupytext reads them, which loads a second's worth: at the first notebook, not with the file of tests."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode


def read(file: Path) -> "NotebookNode":
    import jupytext

    notebook: NotebookNode = jupytext.read(file)
    return notebook
