# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders: gone with their command; a killed one's is found; and a cache may lie at any path."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from lab_vm.machine import Machine

from lab.base.cache import held
from lab.base.errors import UserError
from lab.base.sandbox import NOBODY
from lab.base.scratch import PREFIX, clear, fonts_kept, scratch_folder
from lab.base.workers import one_pool
from lab.images.image import pins_hook
from tests.brief import folder_at, put
from tests.command import wait_for

MAKE_TAR = """
import sys
from pathlib import Path
from lab.images.image import make_tar
make_tar("world", Path(sys.argv[1]))
"""


def load_matplotlib(_job: int) -> str:
    import matplotlib as mpl

    return mpl.get_cachedir()


USE = """
import sys
from pathlib import Path
from lab.base.scratch import scratch_folder
with scratch_folder(*map(Path, sys.argv[1:])) as folder:
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


@pytest.mark.parametrize("above", [[], ["results/break/one"]], ids=["temporary", "of results"])
def test_what_a_killed_command_left_is_cleared_and_what_is_in_use_is_not(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, above: list[str]
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(temporary / "results"))
    places = [temporary / each for each in above]
    for place in places:
        place.mkdir(parents=True)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", USE, *places], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        used = Path(process.stdout.readline().strip())
        assert list(clear()) == []
        assert (used / "own").exists()
        process.kill()
    if places:  # the next command that works there does the same
        with scratch_folder(places[0]):
            assert not used.parent.exists()
    else:
        assert clear() == [used.parent]
    assert not used.parent.exists()


def test_a_pipe_of_another_user_and_a_link_to_a_folder_are_no_scratch_folders_and_left_alone(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (temporary / "mine").mkdir()
    (temporary / "mine" / "lock").touch()
    (temporary / f"{PREFIX}link").symlink_to("mine")
    assert list(clear()) == []
    assert (temporary / "mine" / "lock").exists()
    folder = folder_at(temporary / f"{PREFIX}x")
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
    fake = put(
        temporary / "bin" / "mmdebstrap",
        '#!/bin/sh\nmkdir "$TMPDIR/mmdebstrap.x"\ntouch "$TMPDIR/mmdebstrap.x/root"\nsleep 60\n',
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with subprocess.Popen([sys.executable, "-c", MAKE_TAR, str(temporary / "tar")]) as process:
        wait_for(lambda: list(temporary.glob("search-lab-scratch-*/work/mmdebstrap.x/root")), "root folder", 30)
        process.kill()
    wait_for(lambda: list(clear()), "folder to clear", 30)
    assert not list(temporary.glob(f"{PREFIX}*"))


def test_the_signal_that_mmdebstrap_sends_where_the_disk_is_full_ends_no_command(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends SIGHUP to its whole process group, which was the command's, too."""
    fake = put(temporary / "bin" / "mmdebstrap", "#!/bin/sh\necho 'E: No space left on device'\nkill -HUP 0\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LAB_CACHE", str(fake.parent))
    words = ["env", "--default-signal=HUP", sys.executable, "-c", MAKE_TAR, str(temporary / "tar")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, process_group=0)
    line = done.stderr.splitlines()[-1]
    assert line.startswith("lab.base.errors.UserError: mmdebstrap: E: No space left on device (log: ")


@pytest.mark.parametrize("home", ["a file", "below the current folder"])
def test_where_the_home_cannot_be_written_workers_share_one_place_for_fonts_that_ends_with_them(
    home: str, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (temporary / "no folder").touch()
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(temporary / "no folder") if home == "a file" else home)
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    with fonts_kept(), one_pool() as pool:
        (_, found), *_ = pool.run(load_matplotlib, [0, 1], 2)
        assert list(temporary.glob("matplotlib-*")) == []
        assert Path(found).is_relative_to(temporary)
    assert [each.name for each in temporary.iterdir()] == ["no folder"]
    assert "MPLCONFIGDIR" not in os.environ


def test_where_nothing_can_be_written_a_command_that_draws_nothing_goes_on(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut, user = temporary / "shut", os.geteuid()
    shut.mkdir(mode=0)
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(shut / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(shut))
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    os.seteuid(user or NOBODY)  # root may enter any folder
    try:
        with fonts_kept():
            assert "MPLCONFIGDIR" not in os.environ
    finally:
        os.seteuid(user)


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
