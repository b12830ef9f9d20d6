# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario is added as one file in a folder of the user's: the lab checks it, runs it, and reports it."""

import re
from pathlib import Path

import pytest
from lab_papers.index.write import write_index

from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from tests.command import lab, refused, scenario_file


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the user's with the scenario `mine`."""
    folder = tmp_path_factory.mktemp("scenarios")
    scenario_file(folder, profile="wired-clean", trials=1)
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, added: Path, kernel: Kernel) -> Path:
    """Results with one run of the added scenario."""
    assert kernel
    folder = tmp_path_factory.mktemp("results")
    done = lab(folder, "run", "mine", LAB_SCENARIOS=str(added))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_an_added_scenario_is_checked_and_listed(added: Path, tmp_path: Path) -> None:
    assert "all good" in lab(tmp_path, "check", LAB_SCENARIOS=str(added)).stdout
    listed = lab(tmp_path, "list", "scenarios", LAB_SCENARIOS=str(added)).stdout
    assert re.search(r"^mine +What does a test see\?", listed, re.MULTILINE)


def test_an_added_scenario_runs_to_its_page(results: Path) -> None:
    (trial,) = Run(results / "mine/latest").trials
    assert trial.valid, trial.meta["certificate"]
    assert "What does a test see?" in (results / "mine/latest/report.html").read_text()


def test_the_page_of_all_shows_it(results: Path, added: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_SCENARIOS", str(added))
    page = write_index(results, None, notebooks=tmp_path)
    assert "What does a test see?" in page.read_text()


def test_what_is_wrong_with_an_added_scenario_is_refused(tmp_path: Path) -> None:
    file = scenario_file(tmp_path, profile="nowhere")
    message = refused(lab(tmp_path / "results", "check", LAB_SCENARIOS=str(tmp_path)))
    assert message.startswith(f"{file}: profile=nowhere: must be a known profile of trace-profiles/: ")
    file = scenario_file(tmp_path).rename(tmp_path / "geo.yml")
    message = refused(lab(tmp_path / "results", "check", LAB_SCENARIOS=str(tmp_path)))
    assert message == f"{file}: name=geo: must be another name: lab/scenarios/geo.yml has it"
    missing = tmp_path / "nowhere"
    message = refused(lab(tmp_path / "results", "list", LAB_SCENARIOS=str(missing)))
    assert message == f"environment: LAB_SCENARIOS={missing}: must be a folder"
