# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual kernel runs a compiled copy of the lab's own code."""

from lab import guest_code, paths
from lab.world.image import Image


def test_the_copy_is_the_present_code(world: Image) -> None:
    copy = guest_code.ensure(world.root)
    assert (copy / "node/guest.py").read_bytes() == (paths.LAB / "node/guest.py").read_bytes()


def test_every_file_of_the_copy_is_compiled(world: Image) -> None:
    copy = guest_code.ensure(world.root)
    compiled = {file.name.split(".")[0] for file in (copy / "node/__pycache__").glob("*.pyc")}
    assert compiled == {file.stem for file in (copy / "node").glob("*.py")}
