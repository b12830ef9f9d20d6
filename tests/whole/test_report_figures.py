# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures: what they keep of the data, how they name the moments, and that each is a command."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.base.paths import REPO
from lab.tables.stored_run import Run
from tests.unit.test_report_figures import library, run  # noqa: F401


@pytest.mark.parametrize("name", ["exit_times", "throughput_cdf"])
def test_each_figure_is_a_command(name: str, run: Run, tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, "-m", f"lab.figures.{name}", run.path, tmp_path]
    written = subprocess.check_output(command, cwd=REPO, text=True).split()
    assert written
    assert all(Path(file).stat().st_size > 1000 for file in written)
