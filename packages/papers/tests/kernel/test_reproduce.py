# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab reproduce`: it runs the missing trials of many scenarios, and no trial twice."""

import io
import json
import shutil
from pathlib import Path

import pytest
import yaml
from lab_papers.commands import reproduce as command
from lab_papers.commands.reproduce import run_campaign, run_stages
from rich.console import Console

from lab.base import paths
from lab.runs.options import RunOptions
from lab.tables.digests import write_with_digest
from lab.tables.stored_run import Run
from tests.brief import error_of, folder_at, put
from tests.command import scenario_file
from tests.stored_run import rewrite
from tests.traces_real import every, needs_real, real

pytestmark = pytest.mark.usefixtures("kernel", "world")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(scenario_file(tmp_path_factory.mktemp("scenario"), duration_s=1, trials=2))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    return tmp_path / "mine"


def run(*scenarios: str, quick: bool) -> tuple[list[str], str]:
    output = io.StringIO()
    problems = run_campaign(list(scenarios), quick, RunOptions(2, keep_capture=False), Console(file=output, width=300))
    return problems.faults, output.getvalue()


def test_nothing_runs_twice_and_a_run_of_other_trials_is_another(scenario: str, results: Path, tmp_path: Path) -> None:
    shorter = folder_at(tmp_path / "shorter")
    one_trial = str(scenario_file(shorter, duration_s=1, trials=1))
    problems, output = run(one_trial, quick=False)
    assert problems == []
    assert "mine: 1 trial run" in output
    first = Run(results / "latest")
    (trial,) = first.trials
    assert first.complete
    assert not (trial.path / "client.pcapng.zst").exists()
    stored = (trial.path / "trial.json").stat().st_mtime_ns
    assert "mine: " not in run(one_trial, quick=False)[1]
    assert (trial.path / "trial.json").stat().st_mtime_ns == stored
    assert "mine: 2 trials run" in run(scenario, quick=False)[1]
    assert [len(Run(file.parent).trials) for file in sorted(results.glob("[0-9]*/run.json"))] == [1, 2]


def test_an_interrupted_run_is_continued(scenario: str, results: Path) -> None:
    run(scenario, quick=False)
    shutil.rmtree(Run(results / "latest").trials[1].path)
    assert "mine: 1 trial run" in run(scenario, quick=False)[1]
    assert len(list(results.glob("[0-9]*"))) == 1
    assert len(Run(results / "latest").trials) == 2


def test_a_complete_run_counts_though_a_newer_one_is_empty(scenario: str, results: Path) -> None:
    run(scenario, quick=True)
    (complete,) = results.glob("[0-9]*")
    newer = results / "2999-01-01T00-00-00Z"
    (newer / "trials").mkdir(parents=True)
    meta = json.loads((complete / "run.json").read_text())
    rewrite(newer / "run.json", meta | {"complete": False})
    assert "mine: " not in run(scenario, quick=True)[1]
    assert Run(newer).trials == []
    assert (results / "latest").resolve() == complete


def test_of_unfinished_runs_the_one_with_most_trials_is_continued(scenario: str, results: Path) -> None:
    run(scenario, quick=False)
    (older,) = results.glob("[0-9]*")
    meta = json.loads((older / "run.json").read_text()) | {"complete": False}
    write_with_digest(older / "run.json", json.dumps(meta).encode())
    shutil.rmtree(Run(older).trials[0].path)
    newer = results / "2999-01-01T00-00-00Z"
    (newer / "trials").mkdir(parents=True)
    rewrite(newer / "run.json", meta)
    assert "mine: 1 trial run" in run(scenario, quick=False)[1]
    assert Run(older).complete
    assert not Run(newer).complete


def test_a_scenario_of_the_campaign_that_cannot_run_is_a_line_and_the_others_run(
    scenario: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_at(tmp_path / "scenarios")
    content = f"{Path(scenario).read_text()}\ncampaign: true\n"
    (folder / "mine.yml").write_text(content)
    (folder / "broken.yml").write_text(content.replace("geo-viasat", "no-such-link"))
    monkeypatch.setattr(paths, "SCENARIOS", folder)
    (problem,) = run_stages(True, RunOptions(2, keep_capture=False), None, Console(file=io.StringIO())).faults
    assert "profile=no-such-link: must be a known profile" in problem
    assert Run(results / "latest").complete


@pytest.mark.usefixtures("results")
def test_what_the_papers_experiments_give_is_shown_before_their_counterfactuals_run(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_at(tmp_path / "scenarios")
    (folder / "mine.yml").write_text(f"{Path(scenario).read_text()}\ncampaign: true\n")
    longer = {"question": "And if it lasts longer?", "counterfactual_of": "mine", "duration_s": 2}
    (folder / "a-longer-one.yml").write_text(yaml.safe_dump(longer))
    monkeypatch.setattr(paths, "SCENARIOS", folder)
    shown = []

    def shows(*_: object, **__: object) -> None:
        runs = sorted(tmp_path.glob("*/latest"))
        shown.append([run.parent.name for run in runs if Run(run).complete])

    monkeypatch.setattr(command, "evaluate", shows)
    for _ in ("first", "again, with nothing to run"):
        command.reproduce([], False, RunOptions(2, keep_capture=False), None, Console(file=io.StringIO()))
    assert shown == [["mine"], ["a-longer-one", "mine"], ["a-longer-one", "mine"]]


def test_a_scenario_that_is_named_and_cannot_run_is_refused_before_another_runs(scenario: str, results: Path) -> None:
    broken = put(Path(scenario).with_name("broken.yml"), Path(scenario).read_text().replace("geo-viasat", "no-link"))
    assert "profile=no-link: must be a known profile" in error_of(run, scenario, str(broken), quick=True)
    assert not results.exists()


@needs_real
def test_recordings_are_fetched_first_and_one_that_is_not_there_is_missing_and_no_fault(
    tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    copy_recording("leo-leocc", mirror)
    leo, lte = (scenario_on(link, tmp_path) for link in ("leo-starlink", "lte-att"))
    without_recordings(tmp_path / "cache", monkeypatch)
    output = io.StringIO()
    console = Console(file=output, width=300)
    problems = run_campaign([lte, leo], False, RunOptions(1, keep_capture=False), console, mirror)
    assert problems.faults == []
    assert [line.split()[:2] for line in problems.missing] == [["missing", "lte-att:"]]
    before = output.getvalue().partition(" trial run")[0]
    assert "lte-mahimahi: " in before
    assert problems.missing[0] in before
    assert "leo-leocc/bw_example: fetched from" in before
    assert Run(results.with_name("leo-starlink") / "latest").complete
    assert not results.with_name("lte-att").exists()
    assert Run(results.with_name("lte-att-on-lte-att-model") / "latest").complete


def copy_recording(collection: str, mirror: Path) -> None:
    for name in every(f"{collection}/*"):
        (mirror / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real(name), mirror / name)


def scenario_on(link: str, folder: Path) -> str:
    file = scenario_file(folder, profile=link, duration_s=1, trials=1)
    return str(file.rename(folder / f"{link}.yml"))


def without_recordings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a cache that has all that is built, and no recording."""
    folder.mkdir()
    for entry in paths.cache().iterdir():
        if entry.name != "traces":
            (folder / entry.name).symlink_to(entry)
    monkeypatch.setenv("LAB_CACHE", str(folder))
