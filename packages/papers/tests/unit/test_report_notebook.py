# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebook makes, from the stored tables, what the report makes."""

import ast
from pathlib import Path

import pytest

from lab.base.paths import REPO
from tests import notebook_files

NOTEBOOKS = sorted((REPO / "analysis").glob("[0-9][0-9]-*.py"))
by_name = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)


@by_name
def test_the_first_code_cell_holds_the_parameters(notebook: Path) -> None:
    code = [cell for cell in notebook_files.read(notebook).cells if cell.cell_type == "code"]
    assert "parameters" in code[0].metadata["tags"]


@by_name
def test_the_notebook_defines_nothing(notebook: Path) -> None:
    code = [cell for cell in notebook_files.read(notebook).cells if cell.cell_type == "code"]
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert not any(isinstance(node, defined) for cell in code for node in ast.walk(ast.parse(cell.source)))
