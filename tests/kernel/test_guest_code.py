# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual kernel runs a compiled copy of the lab's own code."""

from lab.backends import guest_code
from lab.base import paths
from lab.images.image import Image


def test_the_copy_is_the_present_code(world: Image) -> None:
    copy = guest_code.ensure(world.root)
    assert (copy / "lab/node/guest.py").read_bytes() == (paths.LAB / "node/guest.py").read_bytes()


def test_every_file_of_the_copy_is_compiled(world: Image) -> None:
    copy = guest_code.ensure(world.root)
    compiled = {file.name.split(".")[0] for file in (copy / "lab/node/__pycache__").glob("*.pyc")}
    assert compiled == {file.stem for file in (copy / "lab/node").glob("*.py")}


def test_a_package_outside_the_node_is_copied_beside_it(world: Image) -> None:
    mounted = guest_code.bound(world.root, "tests.guest.sample")
    assert sorted(mounted.values()) == ["/lab/lab", "/lab/tests"]
    assert all((copy / "__init__.py").exists() for copy in mounted)


def test_code_outside_the_node_does_not_change_the_copy() -> None:
    files = {str(file) for file in guest_code._sources(guest_code.OWN)}
    assert {file for file in files if not file.startswith("lab/node/")} == {"lab/__init__.py"}
