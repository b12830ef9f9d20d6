# SPDX-License-Identifier: GPL-2.0-or-later
"""A link tried without a scenario file, from the command to the page."""

from pathlib import Path

import pytest

from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from tests.command import lab

LINK = """
title: a link of the user's own
down: {rate_mbps: 20.0, delay_ms: 25.0, buffer_bytes: 250000}
up: {delay_ms: 25.0}
recorded: []
assumed: [everything]
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> tuple[Path, str]:
    assert kernel
    folder = tmp_path_factory.mktemp("tried")
    (folder / "mine.yml").write_text(LINK)
    options = ["--profile", str(folder / "mine.yml"), "--cca", "cubic,search", "--trials", "1", "--duration", "2"]
    done = lab(folder / "results", "run", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results", done.stdout


def test_the_run_is_stored_under_the_name_of_the_profile_with_its_pages(tried: tuple[Path, str]) -> None:
    run = Run(tried[0] / "try-mine" / "latest")
    assert run.complete
    assert [trial.cca for trial in run.trials] == ["cubic", "search"]
    assert all(trial.valid for trial in run.trials)
    results, output = tried
    assert "2 trials of 2 s, 1 of each sender (cubic, search), on link " in output
    page = (results / "try-mine" / "latest" / "report.html").read_text()
    assert "When do cubic, search leave slow start on link mine?" in page
    assert (results / "try-mine" / "latest" / "summary.csv").exists()
    done = lab(tried[0], "page")
    assert done.returncode == 0, done.stderr
    assert "try-mine" in (tried[0] / "index.html").read_text()
