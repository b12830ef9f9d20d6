# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks over the committed sample alone: none fails, and what needs no other link is drawn."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
import pytest
from lab_papers.evaluation.write import write_all
from lab_papers.index.execute import execute
from lab_papers.index.notebooks import NOTEBOOKS, Executed, Notebook, execute_all, notebooks_of
from lab_papers.index.write import write_index

from lab.base.paths import REPO
from lab.report.write import write_report
from lab.schema.scenario import scenarios
from tests.brief import error_of, folder_at, put
from tests.stored_run import store_run

ADDED = """# %% [markdown]
# # What does one more notebook show?

# %% tags=["parameters"]
results_dir = "../results"
scenarios = {"a link": ["geo", "sample"]}
out_dir = None

# %%
from lab_papers.index.artefacts import Artefacts

Artefacts.into(out_dir).pending("one-more", "my thesis, table 1", "no run of geo is stored")
"""
DRAWN_OF_ONE_RUN = {
    *("thesis-2.1", "thesis-4.1", "thesis-4.2", "thesis-4.3", "thesis-4.4", "thesis-4.5", "netdev-geo"),
    *("thesis-5.4", "thesis-5.6-geo", "thesis-4.7", "thesis-4.9", "thesis-4.13"),
    *("satellite-download-times", "satellite-exit-and-retransmissions"),
}


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[Executed]:
    results = tmp_path_factory.mktemp("seeds") / "results"
    shutil.copytree(REPO / "analysis" / "sample", results, symlinks=True)
    return execute_all(results, None)


def test_none_of_them_fails(executed: list[Executed]) -> None:
    assert {each.name: each.fault for each in executed if each.fault} == {}
    assert all(each.title.endswith("?") for each in executed)


def test_every_notebook_of_the_folder_that_hands_something_over_is_executed(executed: list[Executed]) -> None:
    assert [each.name for each in executed] == [file.stem for file in notebooks_of(NOTEBOOKS)]


def test_the_scenarios_that_a_notebook_declares_exist() -> None:
    known = set(scenarios())
    for file in NOTEBOOKS.glob("[0-9]*.py"):
        assert {name for names in Notebook.read(file).scenarios.values() for name in names} <= known, file.name


def test_a_notebook_joins_the_page_by_being_in_the_folder(tmp_path: Path) -> None:
    added = folder_at(tmp_path / "notebooks")
    (added / "42-added.py").write_text(ADDED)
    page = write_index(tmp_path / "results", None, added).read_text()
    assert '<details class="chapter" id="chapter-42-added">' in page
    assert "<summary><h2>What does one more notebook show?</h2></summary>" in page
    assert "my thesis, table 1: pending, no run of geo is stored." in page
    assert "(a link: geo, else sample)" in page


def test_notebooks_side_by_side_have_no_port_to_fight_for(tmp_path: Path) -> None:
    transport = """# %%
# It hands over by Artefacts.into(None).
import json, ipykernel
print(json.load(open(ipykernel.get_connection_file()))["transport"])
"""
    notebooks, results = tmp_path / "notebooks", tmp_path / "results"
    notebooks.mkdir()
    for name in ("01-here", "02-there"):
        (notebooks / f"{name}.py").write_text(transport)
    assert [each.fault for each in execute_all(results, None, notebooks)] == [None, None]
    for done in sorted(results.rglob("*.ipynb")):
        assert jupytext.read(done).cells[-1].outputs[0].text == "ipc\n"


def test_a_notebook_finds_the_lab_where_python_takes_no_module_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a worker: ipykernel removes the path's first place where it is the current folder, and that is the lab."""
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    (tmp_path / "01-more.py").write_text(ADDED)
    assert [each.fault for each in execute_all(tmp_path / "results", None, tmp_path)] == [None]


def test_each_figure_of_one_link_is_drawn_from_the_sample_with_no_run_at_all(executed: list[Executed]) -> None:
    drawn = {item.name for each in executed for item in each.artefacts if item.kind == "figure"}
    assert drawn >= DRAWN_OF_ONE_RUN


def test_every_figure_has_an_svg_a_pdf_a_caption_and_a_text_that_stands_for_it(executed: list[Executed]) -> None:
    figures = [item for each in executed for item in each.artefacts if item.kind == "figure"]
    assert all({Path(name).suffix for name in item.files} == {".svg", ".pdf"} for item in figures)
    assert all(len(item.alt) > 40 and len(item.caption) > 40 for item in figures)


def test_what_is_pending_or_left_out_has_a_reason(executed: list[Executed]) -> None:
    waiting = [item for each in executed for item in each.artefacts if item.kind in ("pending", "left out")]
    assert all(item.why for item in waiting)
    assert {"thesis-5.7", "thesis-5.8"} <= {item.name for item in waiting if item.kind == "left out"}


def test_executed_from_top_to_bottom_it_writes_the_summary_and_figures_of_the_report(tmp_path: Path) -> None:
    run, out = store_run(tmp_path / "results", trials=1), tmp_path / "out"
    notebook = tmp_path / "notebook.ipynb"
    jupytext.write(jupytext.read(REPO / "analysis" / "01-geo-exit.py"), notebook)
    with TemporaryDirectory() as sockets:
        execute(notebook, Path(sockets), {"run_dir": str(run), "out_dir": str(out)})
    report = write_report(run, ("png", "pdf"))
    for file in [path for path in report if path.name == "summary.csv" or path.parent.name == "figures"]:
        assert (out / file.name).read_bytes() == file.read_bytes(), file.name


def test_what_is_made_of_all_results_is_not_written_into_a_linked_folder(tmp_path: Path) -> None:
    results, elsewhere = folder_at(tmp_path / "results"), folder_at(tmp_path / "elsewhere")
    own = folder_at(elsewhere / "01-own")
    notebooks = put(tmp_path / "01-own.py", ADDED).parent
    (results / "evaluation").symlink_to(elsewhere)
    assert error_of(write_all, results, None) == f"{results / 'evaluation'}: must be a folder, no link"
    (results / "evaluation").rename(results / "notebooks")
    assert error_of(execute_all, results, None, notebooks) == f"{results / 'notebooks'}: must be a folder, no link"
    (results / "notebooks").unlink()
    (folder_at(results / "notebooks") / "01-own").symlink_to(own)
    assert "01-own: Cannot call rmtree on a symbolic link" in error_of(execute_all, results, None, notebooks)
    assert [*elsewhere.rglob("*")] == [own]
