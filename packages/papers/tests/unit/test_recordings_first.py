# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings come before the experiments that need them; where their origin does not answer, stand-ins run."""

from io import StringIO
from pathlib import Path

import pytest
from lab_papers.commands.reproduce import as_run, fetch_for
from rich.console import Console

from lab.runs.experiment import load_experiment


def test_an_origin_that_does_not_answer_is_tried_once_and_each_experiment_that_lacks_a_recording_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAB_TRACES_ORIGIN", "http://127.0.0.1:1")  # nobody listens
    printed = StringIO()
    experiments = [load_experiment(name) for name in ("thesis-leo", "thesis-lte", "thesis-geo")]
    lacking = fetch_for(experiments, None, Console(file=printed))
    lines = printed.getvalue().splitlines()
    assert [line.split()[1] for line in lacking] == ["thesis-leo:", "thesis-lte:"]
    assert sum("must be reachable" in line for line in lines) == 1


def test_a_stand_in_runs_under_a_name_of_its_own_and_no_claim_is_judged_by_it() -> None:
    recorded = load_experiment("thesis-leo")
    found = as_run(recorded)
    assert found
    assert found.name == "thesis-leo-on-leo-starlink-15s"
    assert found.scenario.profile == found.profile.file.stem == "leo-starlink-15s"
    assert (recorded.scenario.claims != [], found.scenario.claims, found.scenario.published) == (True, [], [])
    assert found.ccas == recorded.ccas


def test_nothing_stands_in_for_a_link_without_recordings() -> None:
    assert as_run(load_experiment("thesis-geo")) is None
