# SPDX-License-Identifier: GPL-2.0-or-later
"""A cache may lie at any path: blanks, quotes and what a shell would execute are part of a name."""

import subprocess
from pathlib import Path

import pytest

from lab.backends.machine import Machine
from lab.images.image import pins_hook

ODD = ["a blank", "a;touch hurt;", "a'quote", 'a"quote', "$(touch hurt)", "a&b|c", "-dash", "100%"]


@pytest.mark.parametrize("name", ODD)
def test_the_pins_are_copied_from_any_path_and_nothing_is_executed(tmp_path: Path, name: str) -> None:
    pins, root = tmp_path / name / "pins", tmp_path / f"{name} root"
    pins.parent.mkdir()
    root.mkdir()
    pins.write_text("Package: any")
    script = pins_hook(pins).removeprefix("--setup-hook=")
    subprocess.run(["sh", "-c", script, "exec", str(root)], check=True, cwd=tmp_path)  # as mmdebstrap does
    assert (root / "etc/apt/preferences.d/lab").read_text() == "Package: any"
    assert not list(tmp_path.rglob("hurt"))


@pytest.mark.parametrize("name", [name for name in ODD if '"' not in name])
def test_ssh_takes_any_path_for_its_sockets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / name))
    command = Machine("netns", "away").ssh("true")
    shown = subprocess.run(["ssh", "-G", *command[1:-1]], capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in shown.splitlines() if line.startswith("controlpath"))
    assert line.startswith(f"controlpath {tmp_path / name}/ssh-")
