# SPDX-License-Identifier: GPL-2.0-or-later
"""The command has one name, `lab`, however it is started."""

import subprocess
import sys
import tomllib

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from lab import __version__
from lab.base.paths import REPO
from lab.commands.cli import app

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


def test_the_pages_name_it_lab_and_the_version_stands_beside_the_commit() -> None:
    pages = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]
    naming = [page.relative_to(REPO).as_posix() for page in pages if "scripts/lab" in page.read_text()]
    assert naming == ["docs/index.md"]
    assert [page for page in pages if "python -m lab " in page.read_text()] == []
    done = subprocess.run([REPO / "scripts" / "lab", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"search-lab {__version__}, commit ")
    assert f"\nversion: {__version__}\n" in (REPO / "CITATION.cff").read_text()
    assert f"## {__version__}" in (REPO / "CHANGELOG.md").read_text()


def test_help_shows_at_most_25_commands_in_groups_those_of_packages_too() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    shown = {name: vars(each)["rich_help_panel"] for name, each in group.commands.items() if not each.hidden}
    assert len(shown) <= 25
    assert shown["run"] == "Run and look"
    assert shown["grade"] == shown["course"] == "Teach"
