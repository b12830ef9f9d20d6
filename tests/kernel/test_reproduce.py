# SPDX-License-Identifier: GPL-2.0-or-later
"""One command for many scenarios: it runs what is missing, and nothing twice."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lab.runs.conduct import How
from lab.runs.reproduce import reproduce
from lab.tables.stored_run import Run
from tests.command import scenario_file

pytestmark = pytest.mark.usefixtures("kernel", "world")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(scenario_file(tmp_path_factory.mktemp("scenario"), duration_s=1, trials=2))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    return tmp_path / "mine"


def run(scenario: str, quick: bool) -> tuple[list[str], str]:
    said = io.StringIO()
    faults = reproduce([scenario], quick, How(workers=2, keep_capture=False), Console(file=said, width=300))
    return faults, said.getvalue()


def test_nothing_runs_twice_and_a_run_of_other_trials_is_another_run(scenario: str, results: Path) -> None:
    faults, said = run(scenario, quick=True)
    assert faults == []
    assert "mine: 1 trials run" in said
    first = Run(results / "latest")
    (trial,) = first.trials
    assert first.complete
    assert not (trial.path / "client.pcapng.zst").exists()
    stored = (trial.path / "trial.json").stat().st_mtime_ns
    assert "trials run" not in run(scenario, quick=True)[1]
    assert (trial.path / "trial.json").stat().st_mtime_ns == stored
    assert "mine: 2 trials run" in run(scenario, quick=False)[1]
    assert [len(Run(file.parent).trials) for file in sorted(results.glob("[0-9]*/run.json"))] == [1, 2]


def test_a_run_that_was_broken_off_is_gone_on_with(scenario: str, results: Path) -> None:
    run(scenario, quick=False)
    whole = Run(results / "latest")
    lost = whole.trials[1].path / "trial.json"
    lost.unlink()
    for file in lost.parent.iterdir():
        file.unlink()
    lost.parent.rmdir()
    assert "mine: 1 trials run" in run(scenario, quick=False)[1]
    assert len(list(results.glob("[0-9]*"))) == 1
    assert len(Run(results / "latest").trials) == 2


def test_a_scenario_that_cannot_run_is_a_line_and_the_others_run(scenario: str, results: Path) -> None:
    broken = Path(scenario).with_name("broken.yml")
    broken.write_text(Path(scenario).read_text().replace("geo-viasat", "no-such-link"))
    said = Console(file=io.StringIO(), width=300)
    faults = reproduce([str(broken), scenario], True, How(workers=1, keep_capture=False), said)
    assert len(faults) == 1
    assert "profile=no-such-link: must be a known profile" in faults[0]
    assert Run(results / "latest").complete
