# SPDX-License-Identifier: GPL-2.0-or-later
"""What `make bench-kills` finds after a kill: every loss is a line, and a place that is whole has none."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from bench import kill_checks
from bench.kill_checks import Place, faults
from bench.kills import RESUME, RUN, Tally, figures
from lab.base.paths import REPO

FIXTURE = REPO / "tests" / "data" / "stored" / "format-2"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A stored run of one trial, after a command that printed nothing."""
    monkeypatch.setattr(kill_checks, "PATIENCE_S", 0.0)
    place = Place(tmp_path)
    shutil.copytree(FIXTURE, place.results / "stored" / "2026-01-01T00-00-00Z")
    place.temporary.mkdir()
    (tmp_path / "errors").touch()
    return place


def test_a_place_that_is_whole_has_no_fault(place: Place) -> None:
    assert len(place.trials) == 1
    assert (faults(place, place.trials), place.left) == ([], [])


def test_a_lost_trial_is_a_fault(place: Place) -> None:
    before = place.trials
    shutil.rmtree(place.runs[0] / "trials" / "search-001")
    assert faults(place, before) == ["lost or changed: stored/search-001"]


def test_a_damaged_trial_is_a_fault(place: Place) -> None:
    before = place.trials
    (place.runs[0] / "trials" / "search-001" / "acks.parquet").write_bytes(b"PAR1")
    lost, damaged = faults(place, before)
    assert lost.startswith("lost or changed: ")
    assert "acks.parquet: sha256=" in damaged


def test_a_traceback_and_a_process_that_runs_on_are_faults(place: Place) -> None:
    (place.folder / "errors").write_text("Traceback (most recent call last):\n")
    with subprocess.Popen(["sleep", "60"], env=os.environ | {"LAB_RESULTS": str(place.results)}) as process:
        runs, traceback = faults(place, place.trials)
        process.kill()
    assert runs.startswith(f"runs: {process.pid} ")
    assert traceback == "a traceback"


def test_drafts_and_temporary_files_are_left_behind(place: Place) -> None:
    draft = place.runs[0] / "trials" / ".search-002.draft"
    for folder in (draft, place.temporary / "search-lab-scratch-x"):
        folder.mkdir()
    assert place.left == [str(draft.relative_to(place.folder)), "tmp/search-lab-scratch-x"]


def test_the_figures_count_kills_by_command_and_signal() -> None:
    tally = Tally(Counter({(RUN, "SIGKILL"): 3, (RESUME, "SIGKILL"): 2, (RUN, "SIGINT"): 1}))
    tally.faults.append({"command": RUN, "fault": "a traceback"})
    found = {figure["name"]: figure["value"] for figure in figures(tally)}
    assert (found["`lab run`: SIGKILL"], found["`lab run`: all"], found["`lab run`: faults"]) == (3, 4, 1)
    assert (found["all: SIGKILL"], found["all: all"], found["all: faults"]) == (5, 6, 1)
