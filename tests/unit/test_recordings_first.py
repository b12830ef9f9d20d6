# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings come before the experiments that need them; an origin that cannot be reached costs its own only."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from lab.commands.recordings import fetch_for
from lab.runs.experiment import load_experiment
from lab.runs.recordings import files_of


def test_every_origin_is_tried_and_each_experiment_that_lacks_a_recording_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    monkeypatch.setenv("LAB_TRACES_ORIGIN", "http://127.0.0.1:1")  # nobody listens
    printed = StringIO()
    experiments = [load_experiment(name) for name in ("thesis-leo", "thesis-lte", "thesis-geo")]
    origins = {file.collection for file in files_of(experiments)}
    lacking = fetch_for(experiments, None, Console(file=printed))
    lines = printed.getvalue().splitlines()
    assert [line.split()[1] for line in lacking] == ["thesis-leo:", "thesis-lte:"]
    assert sum("must be reachable" in line for line in lines) == len(origins) > 1
