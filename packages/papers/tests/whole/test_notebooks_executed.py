# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks over a folder of results: what they are given, what they hand over, and the fault of one that breaks."""

import os
import tempfile
from pathlib import Path

import pytest
from lab_papers.index.manifest import Artefact
from lab_papers.index.notebooks import FOLDER, Executed, execute_all

from lab.base.paths import REPO
from tests.brief import put

GIVEN = """# %% [markdown]
# # What is a notebook given?
# %% tags=["parameters"]
results_dir = None
out_dir = None
replay_library = None
scenarios = {"a link": ["geo", "sample"]}
# %%
import os
import tempfile
from lab_papers.index.artefacts import Artefacts
tempfile.mkdtemp(prefix="left-")  # as of a notebook that is killed
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
    return tmp_path_factory.mktemp("results{of a}").resolve()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("built") / "library.so"
    file.touch()
    return file


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def executed(results: Path, notebooks: Path, library: Path) -> list[Executed]:
    for name, source in (("02-broken", BROKEN), ("01-given", GIVEN), ("03-apart", APART), ("given", GIVEN)):
        (notebooks / f"{name}.py").write_text(source)
    (results / FOLDER / "01-given").mkdir(parents=True)
    (results / FOLDER / "01-given" / "of-before.txt").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or f"{Path.home()}/.cache")
        (temporary := results.parent / "temporary").mkdir()
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", str(temporary))
        patch.setenv("HOME", str(library))  # a file: a notebook needs no home
        found = execute_all(results, library, notebooks)
        assert list(temporary.iterdir()) == []
        return found


def test_each_notebook_that_hands_something_over_is_executed_in_order_of_the_names(executed: list[Executed]) -> None:
    assert [(one.name, one.title) for one in executed] == [
        ("01-given", "What is a notebook given?"),
        ("02-broken", "What does a fault cost?"),
    ]


def test_a_notebook_is_given_results_a_folder_of_its_own_the_core_and_the_checkout(
    executed: list[Executed], results: Path, library: Path
) -> None:
    given = executed[0]
    assert given.fault is None
    assert given.scenarios == {"a link": ["geo", "sample"]}
    why = f"{results}, {library}, {REPO}"
    assert given.artefacts == [Artefact("given", "my thesis, table 1", "pending", why=why)]
    folder = results / FOLDER / "01-given"
    assert not (folder / "of-before.txt").exists()
    assert why in (folder / "01-given.ipynb").read_text()


def test_the_fault_of_a_notebook_is_one_line_and_what_it_had_handed_over_stands(executed: list[Executed]) -> None:
    broken = executed[1]
    assert broken.fault == "ValueError: the second line is missing"
    assert [artefact.name for artefact in broken.artefacts] == ["sky"]


def test_a_notebook_is_executed_again_only_where_something_that_it_reads_or_made_changed_or_it_had_a_fault(
    executed: list[Executed], results: Path, notebooks: Path, library: Path
) -> None:
    def executed_again() -> list[str]:
        """Execute all, and return the notebooks that were executed: their files are written again."""
        made = {one.name: _written_ns(results, one.name) for one in executed}
        again = execute_all(results, library, notebooks)
        assert again == executed
        return [name for name, written in made.items() if _written_ns(results, name) != written]

    assert executed_again() == ["02-broken"]
    run = put(results / "geo" / "2026-11-25T00-00-00" / "run.json", "{}")
    assert executed_again() == ["01-given", "02-broken"]
    put(results / "leo" / run.parent.name / "run.json", "{}")
    assert executed_again() == ["02-broken"]  # 01-given declares GEO alone
    (results / FOLDER / "01-given" / "01-given.ipynb").write_text("cut")
    assert executed_again() == ["01-given", "02-broken"]
    library.write_text("another core")
    assert executed_again() == ["01-given", "02-broken"]


def _written_ns(results: Path, name: str) -> int:
    return (results / FOLDER / name / f"{name}.ipynb").stat().st_mtime_ns
