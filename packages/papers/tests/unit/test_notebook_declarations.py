# SPDX-License-Identifier: GPL-2.0-or-later
"""What a notebook declares is read without executing it; those of analysis/ begin with parameters, and define none."""

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab_papers.index.notebooks import Notebook

from lab.base.paths import REPO
from tests.brief import put

if TYPE_CHECKING:
    from nbformat import NotebookNode


def read(file: Path) -> "NotebookNode":
    import jupytext

    notebook: NotebookNode = jupytext.read(file)
    return notebook


CHAPTER = """# %%
import nothing_that_exists
# %% [markdown]
# A remark that is no heading.
#
# # Where senders leave
#
# # A second heading
# %% tags=["parameters"]
out_dir = None
scenarios = {"geo": ["search", "cubic"]}
# %%
raise RuntimeError("executed")
"""


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    file = put(tmp_path / "01-chapter.py", CHAPTER)
    return Notebook.read(file)


def test_the_title_is_the_first_heading_of_its_prose(notebook: Notebook) -> None:
    assert notebook.title == "Where senders leave"


def test_its_parameters_are_the_cell_of_that_tag_and_name_the_scenarios(notebook: Notebook) -> None:
    assert notebook.parameters == 'out_dir = None\nscenarios = {"geo": ["search", "cubic"]}'
    assert notebook.scenarios == {"geo": ["search", "cubic"]}


def test_a_notebook_that_declares_nothing_has_no_title_no_parameters_and_needs_no_run(tmp_path: Path) -> None:
    file = put(tmp_path / "02-plain.py", "# %%\n1 + 1\n")
    found = Notebook.read(file)
    assert (found.title, found.parameters, dict(found.scenarios)) == ("", "", {})


NOTEBOOKS = sorted((REPO / "analysis").glob("[0-9][0-9]-*.py"))
by_name = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)


@by_name
def test_the_first_code_cell_holds_the_parameters(notebook: Path) -> None:
    code = [cell for cell in read(notebook).cells if cell.cell_type == "code"]
    assert "parameters" in code[0].metadata["tags"]


@by_name
def test_the_notebook_defines_nothing(notebook: Path) -> None:
    code = [cell for cell in read(notebook).cells if cell.cell_type == "code"]
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert not any(isinstance(node, defined) for cell in code for node in ast.walk(ast.parse(cell.source)))
