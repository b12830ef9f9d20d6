# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of ARTIFACT.md run: kick the tires, what one claim needs, and the trials of `lab same`."""

from pathlib import Path

import pytest
import yaml
from lab_papers.commands.kick_tires import LINKS, PAGE, at_hand
from lab_papers.commands.reproduce import reproduce_claim
from lab_papers.same import reference, trials
from lab_papers.same.reference import Values, values_of
from rich.console import Console

from lab.base import paths
from lab.base.errors import UserError
from lab.kernel.build import Kernel
from lab.runs.options import RunOptions
from lab.runs.pool import attempt
from lab.tables.stored_trial import Trial
from tests.brief import folder_at
from tests.command import lab_ok, scenario_file
from tests.conftest import Bench

SOURCE = "a paper, table 1"


def test_kick_tires_runs_each_link_or_its_stand_in_then_same_and_writes_a_page(kernel: Kernel, tmp_path: Path) -> None:
    assert kernel.linux.is_file()
    done = lab_ok(tmp_path, "kick-tires")
    page = (tmp_path / PAGE).read_text()
    for link in LINKS:
        shown = at_hand(link, 1).scenario.profile
        assert f"{shown:14} SEARCH" in done.stdout
        assert f"<td>{shown}</td>" in page
    assert "INVALID" not in page
    verdict = next(line for line in done.stdout.splitlines() if line.startswith("SAME: "))
    assert verdict in page


@pytest.fixture
def scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for lab/scenarios, with one claim."""
    folder = folder_at(tmp_path / "scenarios")
    values = {"exit_s": 1.0}
    claims = [{"source": SOURCE, "row": "first", "cca": "cubic_plain", "values": values}]
    scenario_file(folder, claims=claims, trials=1)
    monkeypatch.setattr(paths, "SCENARIOS", folder)
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return folder


def test_a_claim_runs_its_scenario_and_prints_its_values(
    kernel: Kernel, scenarios: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernel.linux.is_file()
    assert yaml.safe_load((scenarios / "mine.yml").read_text())["trials"] == 1
    reproduce_claim("C1", [], False, RunOptions(1), None, Console(width=200))
    assert SOURCE in capsys.readouterr().out
    assert (paths.results() / "mine" / "latest" / "trials" / "cubic_plain-001" / "trial.json").is_file()


def test_a_claim_and_a_scenario_at_once_are_refused() -> None:
    with pytest.raises(UserError, match=r"claim=C1: must be used without scenarios \(geo\)"):
        reproduce_claim("C1", ["geo"], False, RunOptions(1), None, Console())


def run(bench: Bench, folder: Path, **changes: object) -> dict[str, Values]:
    """Run one short trial of the list's own link."""
    folder.mkdir()
    content = yaml.safe_load(trials.FILE.read_text()) | {"trials": 1}
    content["runs"] = {"mine": {"ccas": ["bbr"], "duration_s": 1, **changes}}
    (folder / "same.yml").write_text(yaml.safe_dump(content))
    (job,) = trials.jobs(bench.backend, folder, trials.experiments(folder / "same.yml"))
    result = attempt(job)
    assert not isinstance(result, str), result
    return {trials.name_of(job): values_of(Trial(job.folder))}


def test_a_trial_is_the_same_until_its_link_differs(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "require_clean", lambda: "c0ffee")
    reference.write(run(bench, tmp_path / "first"), bench.backend.site.description, tmp_path / "reference")
    stored = reference.read(tmp_path / "reference")
    again, other = run(bench, tmp_path / "again"), run(bench, tmp_path / "other", down={"rate_mbps": 7})
    assert reference.difference("mine/bbr-001", again["mine/bbr-001"], stored) == []
    lines = reference.difference("mine/bbr-001", other["mine/bbr-001"], stored)
    assert lines[0].startswith("packets, acks")
    assert lines[1].startswith("packet ")
    assert lines[2].startswith("  here       t_s=")
    assert lines[3].startswith("  reference  t_s=")
