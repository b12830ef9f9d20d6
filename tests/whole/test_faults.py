# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status, and nothing that is stored is lost."""

import shutil
from pathlib import Path

import pytest

from tests.command import lab, refused, scenario_file


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of the system's tools, from which a test takes one away."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("bwrap", "mmdebstrap", "setpriv", "git", "apt-get", "true"):
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    return folder


def test_without_bwrap_a_run_names_it_and_the_command_that_shows_more(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools))
    assert refused(done) == "sandbox: bwrap: not installed: run 'lab doctor'"


def test_without_mmdebstrap_the_first_run_names_it(tmp_path: Path, tools: Path) -> None:
    (tools / "mmdebstrap").unlink(missing_ok=True)
    cache = tmp_path / "cache"
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=str(cache))
    assert refused(done) == "mmdebstrap: not installed: run 'make setup'"
    assert not [folder for folder in cache.iterdir() if folder.is_dir()]


def test_doctor_names_what_is_missing_and_what_mends_it(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    done = lab(tmp_path / "results", "doctor", PATH=str(tools), LAB_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert any(
        line.startswith("MISSING  sandbox (bwrap)") and "make setup" in line for line in done.stdout.splitlines()
    )
