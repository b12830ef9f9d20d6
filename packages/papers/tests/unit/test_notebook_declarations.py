# SPDX-License-Identifier: GPL-2.0-or-later
"""What a notebook declares is read without executing it: its title, its parameters, and the runs that it needs."""

from pathlib import Path

import pytest
from lab_papers.index.notebooks import Notebook

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
    file = tmp_path / "01-chapter.py"
    file.write_text(CHAPTER)
    return Notebook.read(file)


def test_the_title_is_the_first_heading_of_its_prose(notebook: Notebook) -> None:
    assert notebook.title == "Where senders leave"


def test_its_parameters_are_the_cell_of_that_tag_and_name_the_scenarios(notebook: Notebook) -> None:
    assert notebook.parameters == 'out_dir = None\nscenarios = {"geo": ["search", "cubic"]}'
    assert notebook.scenarios == {"geo": ["search", "cubic"]}


def test_a_notebook_that_declares_nothing_has_no_title_no_parameters_and_needs_no_run(tmp_path: Path) -> None:
    file = tmp_path / "02-plain.py"
    file.write_text("# %%\n1 + 1\n")
    found = Notebook.read(file)
    assert (found.title, found.parameters, dict(found.scenarios)) == ("", "", {})
