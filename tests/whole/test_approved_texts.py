# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages and tables of fixed downloads are those that were read and approved (tests/approved.py)."""

import subprocess
from pathlib import Path

import pytest

from lab.base.paths import LAB
from lab.report.index.write import write_index
from lab.report.write import write_report
from tests.approved import approved, text_of
from tests.compared import example, store
from tests.stored_run import store_run

REPORT = ("summary.csv", "summary.md", "outcomes.csv", "tables/classes.tex", "tables/times-column.tex")
COMPARED = ("ranks.csv", "trials.csv")
SCENARIOS = "\nScenarios\n"  # what follows depends on all scenarios and sources, as the line of progress does
PROGRESS = " trials of the papers' scenarios are stored"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("library")
    subprocess.run(["make", "-s", "-C", LAB / "kernel/search", f"OUT={out}"], check=True)
    return out / "libsearch_replay.so"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    return write_report(store_run(tmp_path_factory.mktemp("report"), library=library), library).paths.page.parent


@pytest.mark.parametrize("file", REPORT)
def test_a_runs_tables_are_the_approved_ones(report: Path, file: str) -> None:
    text = (report / file).read_text()
    assert text == approved(f"report-{Path(file).name}", text)


def test_a_runs_page_says_what_was_approved(report: Path) -> None:
    text = text_of((report / "report.html").read_text())
    assert text == approved("report.txt", text)


def test_the_page_of_all_results_begins_as_approved(tmp_path: Path) -> None:
    for name in ("geo", "leo"):
        run = store_run(tmp_path / "results", trials=2, name=name)
        (run.parent / "latest").symlink_to(run.name)
    (tmp_path / "notebooks").mkdir()
    page = text_of(write_index(tmp_path / "results", None, tmp_path / "notebooks").read_text())
    lines = page[: page.rindex(SCENARIOS)].splitlines(keepends=True)
    text = "".join(line for line in lines if PROGRESS not in line)
    assert text == approved("index.txt", text)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(results))
        patch.setattr("sys.argv", ["lab", "compare"])
        return example(*store(results, 5))[0]


def test_the_page_of_a_comparison_says_what_was_approved(comparison: Path) -> None:
    text = text_of((comparison / "compare.html").read_text()).replace(comparison.name, "TODAY")
    assert text == approved("compare.txt", text)


@pytest.mark.parametrize("file", COMPARED)
def test_the_tables_of_a_comparison_are_the_approved_ones(comparison: Path, file: str) -> None:
    text = (comparison / file).read_text()
    assert text == approved(f"compare-{file}", text)
