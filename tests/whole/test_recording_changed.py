# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording in a profile's folder that has the same name and another content: no trial over it is the same."""

import re
from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.runs import run_folder
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.find_run import grown_since, matching
from lab.runs.reuse import reuse
from tests.stored_run import store_run
from tests.whole.test_compare_growing import site

PROFILE = """
title: Recorded
down: {rate_mbps: {file: mine.csv}, delay_ms: 10, buffer_bytes: 100000}
up: {rate_mbps: 50, delay_ms: 10, buffer_bytes: 100000}
recorded: []
assumed: []
"""
SCENARIO = "{question: How, profile: recorded, topology: path, ccas: [cubic], trials: 2, duration_s: 5, seed: 1}"


@pytest.fixture
def over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recording of a link over which a run was stored."""
    for name, content in (("recorded.yml", PROFILE), ("over.yml", SCENARIO)):
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    record(tmp_path / "mine.csv", 20)
    folder = run_folder.create(experiment(tmp_path), site(tmp_path))
    source = store_run(tmp_path / "source", 2, senders=("cubic",))
    (folder / "trials").rmdir()
    (source / "trials").rename(folder / "trials")
    return tmp_path / "mine.csv"


def record(file: Path, rate_mbps: int) -> None:
    file.write_text("t_s,rate_down_mbps\n" + "".join(f"{second},{rate_mbps}\n" for second in range(60)))


def experiment(folder: Path) -> Experiment:
    return load_experiment(str(folder / "over.yml"))


@pytest.mark.parametrize(("rate_mbps", "taken"), [(20, 2), (5, 0)])
def test_trials_are_taken_over_while_the_recording_is_the_same(over: Path, rate_mbps: int, taken: int) -> None:
    record(over, rate_mbps)
    now = experiment(over.parent)
    assert (matching(now, site(over.parent)) is not None) == bool(taken)
    folder = run_folder.create(now, site(over.parent))
    assert reuse(now, folder, site(over.parent), keep_capture=False) == taken


def test_a_run_over_another_recording_is_not_continued(over: Path) -> None:
    record(over, 5)
    line = r"/results/over/[^/]+: recordings=\w+: must be \w+, as it is now: run without --resume$"
    with pytest.raises(UserError) as refused:
        grown_since("2026-01-01")(experiment(over.parent), site(over.parent))
    assert re.search(line, str(refused.value))
