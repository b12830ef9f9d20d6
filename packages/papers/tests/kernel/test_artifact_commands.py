# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of ARTIFACT.md run: kick the tires, and what one claim needs."""

from pathlib import Path

import pytest
import yaml
from lab_papers.commands.kick_tires import LINKS, PAGE, at_hand
from lab_papers.commands.reproduce import reproduce_claim
from rich.console import Console

from lab.base import paths
from lab.base.errors import UserError
from lab.kernel.build import Kernel
from lab.runs.options import RunOptions
from tests.command import lab, scenario_file

SOURCE = "a paper, table 1"


def test_kick_tires_runs_every_link_or_its_stand_in_then_same_and_writes_one_page(
    kernel: Kernel, tmp_path: Path
) -> None:
    assert kernel.linux.is_file()
    done = lab(tmp_path, "kick-tires")
    assert done.returncode == 0, done.stdout + done.stderr
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
    folder = tmp_path / "scenarios"
    folder.mkdir()
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
