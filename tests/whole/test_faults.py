# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever goes wrong gets one clear line and a failing exit status; a short fuzzing ends so too."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lab.base.commit import commit, program
from lab.runs.run_folder import lab_version
from tests.command import lab, refused, scenario_file
from tests.hostile.readers import READERS
from tests.whole.test_hostile import in_a_process


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


def test_without_the_requested_bwrap_a_run_names_it_and_the_command_that_shows_more(
    tmp_path: Path, tools: Path
) -> None:
    (tools / "bwrap").unlink()
    words = ["run", str(scenario_file(tmp_path))]
    done = lab(tmp_path / "results", *words, PATH=str(tools), LAB_SANDBOX="bubblewrap")
    assert refused(done) == "sandbox: bwrap: not installed: run 'lab doctor'"


def test_without_bwrap_nothing_is_built_and_one_line_names_the_ways_out(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    cache = str(tmp_path / "cache")
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=cache)
    assert refused(done).startswith("sandbox: bwrap: not installed: building kernel and world needs ")
    assert "lab bundle use" in refused(done)


def test_a_sandbox_of_another_name_is_refused(tmp_path: Path) -> None:
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), LAB_SANDBOX="docker")
    assert refused(done) == "environment: LAB_SANDBOX=docker: must be bubblewrap or none"


def test_without_mmdebstrap_the_first_run_names_it(tmp_path: Path, tools: Path) -> None:
    (tools / "mmdebstrap").unlink(missing_ok=True)
    cache = tmp_path / "cache"
    done = lab(tmp_path / "results", "run", str(scenario_file(tmp_path)), PATH=str(tools), LAB_CACHE=str(cache))
    assert refused(done) == "mmdebstrap: not installed: run 'make setup'"
    assert not [folder for folder in cache.iterdir() if folder.is_dir()]


def test_doctor_names_what_is_missing_what_mends_it_and_the_mode(tmp_path: Path, tools: Path) -> None:
    (tools / "bwrap").unlink()
    cache = str(tmp_path / "cache")
    done = lab(tmp_path / "results", "doctor", PATH=str(tools), LAB_CACHE=cache, LAB_SANDBOX="bubblewrap")
    assert done.returncode == 1
    assert any(line.startswith("MISSING  sandbox ") and "make setup" in line for line in done.stdout.splitlines())
    done = lab(tmp_path / "results", "doctor", PATH=str(tools))
    (line,) = (line for line in done.stdout.splitlines() if "  sandbox " in line)
    assert "sandbox none, since bwrap: not installed" in line


def test_the_commit_is_that_of_the_checkout_also_below_a_hook_of_another_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, *identity, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    expected = commit(), program(), lab_version.__wrapped__()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / ".git" / "index"))
    assert (commit(), program(), lab_version.__wrapped__()) == expected


FEW = "40"
SEED = "1"


@pytest.mark.parametrize("reads", READERS)
def test_a_changed_file_is_read_or_refused_in_one_line(reads: str) -> None:
    done = in_a_process("tests.hostile.fuzz", reads, FEW, SEED)
    assert done.returncode == 0, done.stderr[-3000:]
