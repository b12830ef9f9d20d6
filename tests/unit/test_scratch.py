# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders: gone with their command; a killed one's is found, one in use is left alone."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lab.base.scratch import clear, scratch_folder

USE = """
import sys
from lab.base.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "own").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_scratch_folder_ends_with_its_block_without_a_trace(temporary: Path) -> None:
    with scratch_folder() as folder:
        (folder / "own").touch()
        assert list(clear()) == []
        assert (folder / "own").exists()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_command_left_is_cleared_and_what_is_in_use_is_not(temporary: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", USE], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        used = Path(process.stdout.readline().strip())
        assert list(clear()) == []
        assert (used / "own").exists()
        process.kill()
    assert list(clear()) == [used.parent]
    assert list(temporary.iterdir()) == []
