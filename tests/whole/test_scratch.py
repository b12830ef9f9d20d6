# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders: gone with their command; a killed one's is found; and a cache may lie at any path."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lab.backends.machine import Machine
from lab.base.cache import held
from lab.base.errors import UserError
from lab.base.scratch import PREFIX, clear, scratch_folder
from lab.images.image import pins_hook
from tests.command import wait_for

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


def test_a_pipe_of_another_user_and_a_link_to_a_folder_are_no_scratch_folders_and_left_alone(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (temporary / "mine").mkdir()
    (temporary / "mine" / "lock").touch()
    (temporary / f"{PREFIX}link").symlink_to("mine")
    assert list(clear()) == []
    assert (temporary / "mine" / "lock").exists()
    folder = temporary / f"{PREFIX}x"
    folder.mkdir()
    os.mkfifo(folder / "lock")  # which nobody waits for
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert list(clear()) == []
    assert folder.exists()


def test_no_lock_is_a_pipe_or_a_link(temporary: Path) -> None:
    os.mkfifo(temporary / "pipe")
    reader = os.open(temporary / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(UserError, match="pipe: must be a plain file"), held(temporary / "pipe", wait=True):
        pass
    os.close(reader)
    for name in ("pipe", "link"):
        (temporary / "link").unlink(missing_ok=True)
        (temporary / "link").symlink_to(temporary / "elsewhere")
        with pytest.raises(OSError, match=name), held(temporary / name, wait=True):
            pass
    assert not (temporary / "elsewhere").exists()


def test_the_root_folder_of_a_killed_mmdebstrap_is_cleared(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place is a scratch folder: this one unpacks one file, and then waits."""
    fake = temporary / "bin" / "mmdebstrap"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nmkdir "$TMPDIR/mmdebstrap.x"\ntouch "$TMPDIR/mmdebstrap.x/root"\nsleep 60\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    code = (
        f"from pathlib import Path; from lab.images.image import make_tar; make_tar('world', Path('{temporary}/tar'))"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        wait_for(lambda: list(temporary.glob("search-lab-scratch-*/work/mmdebstrap.x/root")), "root folder", 30)
        process.kill()
    wait_for(lambda: list(clear()), "folder to clear", 30)
    assert not list(temporary.glob(f"{PREFIX}*"))


ODD = ["a blank", "a;touch hurt;", "a'quote", 'a"quote', "$(touch hurt)", "a&b|c", "-dash", "100%"]


@pytest.mark.parametrize("name", ODD)
def test_mmdebstrap_finds_the_pins_at_any_path(tmp_path: Path, name: str) -> None:
    pins = tmp_path / name / "pins"
    script = pins_hook(pins).removeprefix("--setup-hook=")
    split = "use Text::ParseWords; print join qq(\\n), shellwords $ARGV[0]"  # as mmdebstrap does for `upload`
    words = subprocess.run(["perl", "-e", split, script], capture_output=True, text=True, check=True).stdout
    assert words.splitlines() == ["upload", str(pins), "/etc/apt/preferences.d/lab"]


@pytest.mark.parametrize("name", [name for name in ODD if '"' not in name])
def test_ssh_takes_any_path_for_its_sockets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / name))
    command = Machine("netns", "away").ssh("true")
    shown = subprocess.run(["ssh", "-G", *command[1:-1]], capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in shown.splitlines() if line.startswith("controlpath"))
    assert line.startswith(f"controlpath {tmp_path / name}/ssh-")
