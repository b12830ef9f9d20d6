# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual kernel runs a compiled copy of the lab's own code."""

from pathlib import Path

import pytest

from lab.backends import guest_code
from lab.base import paths
from lab.images.image import Image


def test_the_copy_is_the_present_code_and_every_file_is_compiled(world: Image) -> None:
    copy = guest_code.ensure(world.root)
    assert (copy / "lab/node/guest.py").read_bytes() == (paths.LAB / "node/guest.py").read_bytes()
    copy = guest_code.ensure(world.root)
    compiled = {file.name.split(".")[0] for file in (copy / "lab/node/__pycache__").glob("*.pyc")}
    assert compiled == {file.stem for file in (copy / "lab/node").glob("*.py")}


def test_a_package_outside_the_node_is_copied_beside_it_and_other_code_is_not(world: Image) -> None:
    copy = guest_code.ensure(world.root, guest_code.package_of("tests.guest.sample"))
    assert sorted(folder.name for folder in copy.iterdir()) == ["lab", "tests"]
    assert all((copy / package / "__init__.py").exists() for package in ("lab/node", "tests/guest"))
    files = {str(file) for file in guest_code._sources(guest_code.OWN)}
    assert {file for file in files if not file.startswith("lab/node/")} == {"lab/__init__.py"}


def test_the_worlds_python_compiles_the_same_bytes_without_a_sandbox(
    world: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    for mode in ("bubblewrap", "none"):
        monkeypatch.setenv("LAB_SANDBOX", mode)
        copy = tmp_path / mode
        guest_code._copy(copy, guest_code.OWN)
        guest_code._compile(copy, world.root)
        compiled.append({file.name: file.read_bytes() for file in copy.rglob("*.pyc")})
    assert len(compiled[0]) > 1
    assert compiled[0] == compiled[1]
