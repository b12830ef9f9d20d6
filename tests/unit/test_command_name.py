# SPDX-License-Identifier: GPL-2.0-or-later
"""The command has one name, `lab`, however it is started."""

import subprocess
import sys
import tomllib

import pytest

from lab.base.paths import REPO

ENTRY = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["scripts"]["lab"]
MODULE, FUNCTION = ENTRY.split(":")
OF_THE_ENVIRONMENT = f"import sys; sys.argv[0] = '/some/.venv/bin/lab'; from {MODULE} import {FUNCTION}; {FUNCTION}()"


@pytest.mark.parametrize(
    "start",
    [[REPO / "scripts" / "lab"], [sys.executable, "-m", "lab"], [sys.executable, "-c", OF_THE_ENVIRONMENT]],
    ids=["scripts/lab", "python -m lab", "the environment's lab"],
)
def test_help_names_the_command_lab(start: list[str]) -> None:
    done = subprocess.run([*start, "verify", "--help"], cwd=REPO, capture_output=True, text=True, check=True)
    assert "Usage: lab verify [OPTIONS]" in done.stdout
    assert "python -m" not in done.stdout


def test_the_pages_name_it_lab_and_one_place_names_the_script_of_the_checkout() -> None:
    pages = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]
    naming = [page.relative_to(REPO).as_posix() for page in pages if "scripts/lab" in page.read_text()]
    assert naming == ["docs/index.md"]
    assert [page for page in pages if "python -m lab " in page.read_text()] == []
