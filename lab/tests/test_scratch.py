# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders: gone with their command; a killed one's is found, one in use is left alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.scratch import clear, scratch_folder

USE = """
import sys
from lab.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "work").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_scratch_folder_ends_with_its_block_without_a_trace(cache: Path) -> None:
    with scratch_folder() as folder:
        (folder / "work").touch()
    assert list(cache.iterdir()) == []


def test_what_a_killed_command_left_is_cleared_and_what_is_in_use_is_not(cache: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", USE], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        used = Path(process.stdout.readline().strip())
        assert list(clear()) == []
        assert (used / "work").exists()
        process.kill()
    log = cache / f"{used.name}.log"  # of a build
    log.touch()
    assert list(clear()) == [used]
    assert list(cache.iterdir()) == [log]
