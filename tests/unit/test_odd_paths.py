# SPDX-License-Identifier: GPL-2.0-or-later
"""A cache may lie at any path: blanks, quotes and what a shell would execute are part of a name."""

import subprocess
from pathlib import Path

import pytest

from lab.backends.machine import Machine
from lab.images.image import pins_hook

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
