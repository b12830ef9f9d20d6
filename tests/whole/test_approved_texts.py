# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages and tables of fixed downloads are those that were read and approved (tests/approved.py)."""

import os
import subprocess
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

from lab.base.paths import LAB
from lab.evaluation.write import write_all
from lab.report import write
from lab.report.index import heuristics
from lab.report.index.write import write_index
from lab.report.write import write_report
from lab.schema.scenario import load_scenario
from tests.approved import approved, text_of
from tests.compared import example, store
from tests.first_screen import change
from tests.stored_run import store_run

REPORT = ("summary.csv", "summary.md", "summary.txt", "outcomes.csv", "tables/classes.tex", "tables/times-column.tex")
COMPARED = ("ranks.csv", "trials.csv")
EVALUATED = ("heuristics", "heuristics_constants", "heuristics_trials", "means", "outcomes", "paired", "versions")
CLAIMING = "thesis-geo"  # a scenario with claims of a paper
YEAR_2100 = 4_102_444_800
OF_A_GRID = 10  # one row of so many of a table of a whole grid is read
SCENARIOS = "\nScenarios\n"  # what follows depends on all scenarios and sources, as the line of progress does
PROGRESS = " trials of the papers' scenarios are stored"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("library")
    subprocess.run(["make", "-s", "-C", LAB / "kernel/search", f"OUT={out}"], check=True)
    return out / "libsearch_replay.so"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    run = store_run(tmp_path_factory.mktemp("report"), library=library)
    with pytest.MonkeyPatch.context() as patch:
        for form in ("png", "pdf"):  # of its figures, which take most of the time
            patch.setattr(write, form, lambda _figure: b"")
        return write_report(run, library).paths.page.parent


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
        (run / "report.html").touch()
        os.utime(run / "report.html", (YEAR_2100, YEAR_2100))  # its own page is there: the figures take ten seconds
    (tmp_path / "notebooks").mkdir()
    page = text_of(write_index(tmp_path / "results", None, tmp_path / "notebooks").read_text())
    lines = page[: page.rindex(SCENARIOS)].splitlines(keepends=True)
    text = "".join(line for line in lines if PROGRESS not in line)
    assert text == approved("index.txt", text)


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    results = tmp_path_factory.mktemp("evaluated")
    run = store_run(results, trials=5, name=CLAIMING, library=library)
    scenario = load_scenario(CLAIMING)[1].model_dump(mode="json")
    change(run, scenario={part: scenario[part] for part in ("claims", "tolerance", "heuristic")})
    (run.parent / "latest").symlink_to(run.name)
    return write_all(results, library)[0]


def as_text(table: pl.DataFrame) -> str:
    """A table in digits that no other order of summation changes."""
    return table.with_columns(cs.float().round_sig_figs(6)).write_csv()


@pytest.mark.parametrize("name", EVALUATED)
def test_the_tables_of_the_evaluation_are_the_approved_ones(evaluation: Path, name: str) -> None:
    text = as_text(pl.read_parquet(evaluation / f"{name}.parquet"))
    assert text == approved(f"evaluation-{name}.csv", text)


def test_the_map_of_searchs_parameters_is_the_approved_one(evaluation: Path) -> None:
    text = as_text(pl.read_parquet(evaluation / "sensitivity.parquet").gather_every(OF_A_GRID))
    assert text == approved("evaluation-sensitivity.csv", text)


def test_the_claims_of_a_scenario_have_the_approved_verdicts(evaluation: Path) -> None:
    text = as_text(pl.read_parquet(evaluation / "claims.parquet").filter(scenario=CLAIMING))
    assert text == approved("evaluation-claims.csv", text)


def test_the_page_of_the_rules_says_what_was_approved(evaluation: Path) -> None:
    assert heuristics.write(evaluation.parent, {CLAIMING: "GEO"})
    text = text_of((evaluation.parent / heuristics.PAGE).read_text())
    assert text == approved("heuristics.txt", text)


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
