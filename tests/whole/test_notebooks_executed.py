# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks over a folder of results: what they are given, what they hand over, and the fault of one that breaks."""

from pathlib import Path

import pytest
from lab_papers.index.manifest import Artefact
from lab_papers.index.notebooks import FOLDER, Executed, execute_all

from lab.base.paths import REPO

GIVEN = """# %% [markdown]
# # What is a notebook given?
# %% tags=["parameters"]
results_dir = None
out_dir = None
replay_library = None
scenarios = {"a link": ["geo", "sample"]}
# %%
import os
from lab_papers.index.artefacts import Artefacts
Artefacts.into(out_dir).pending("given", "my thesis, table 1", f"{results_dir}, {replay_library}, {os.getcwd()}")
"""
BROKEN = """# %% [markdown]
# # What does a fault cost?
# %% tags=["parameters"]
out_dir = None
# %%
from lab_papers.index.artefacts import Artefacts
Artefacts.into(out_dir).left_out("sky", "a satellite", "it is not here")
raise ValueError("the second line is missing")
"""
APART = "# %% [markdown]\n# # This one hands nothing over\n# %%\nraise SystemExit(1)\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results").resolve()


@pytest.fixture(scope="module")
def executed(results: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Executed]:
    notebooks = tmp_path_factory.mktemp("notebooks")
    for name, source in (("02-broken", BROKEN), ("01-given", GIVEN), ("03-apart", APART), ("given", GIVEN)):
        (notebooks / f"{name}.py").write_text(source)
    (results / FOLDER / "01-given").mkdir(parents=True)
    (results / FOLDER / "01-given" / "of-before.txt").touch()
    return execute_all(results, Path("/a/library.so"), notebooks)


def test_each_notebook_that_hands_something_over_is_executed_in_the_order_of_the_names(
    executed: list[Executed],
) -> None:
    assert [(one.name, one.title) for one in executed] == [
        ("01-given", "What is a notebook given?"),
        ("02-broken", "What does a fault cost?"),
    ]


def test_a_notebook_is_given_results_a_folder_of_its_own_the_core_and_the_checkout(
    executed: list[Executed], results: Path
) -> None:
    given = executed[0]
    assert given.fault is None
    assert given.scenarios == {"a link": ["geo", "sample"]}
    why = f"{results}, /a/library.so, {REPO}"
    assert given.artefacts == [Artefact("given", "my thesis, table 1", "pending", why=why)]
    folder = results / FOLDER / "01-given"
    assert not (folder / "of-before.txt").exists()
    assert why in (folder / "01-given.ipynb").read_text()


def test_the_fault_of_a_notebook_is_one_line_and_what_it_had_handed_over_stands(executed: list[Executed]) -> None:
    broken = executed[1]
    assert broken.fault == "ValueError: the second line is missing"
    assert [artefact.name for artefact in broken.artefacts] == ["sky"]
