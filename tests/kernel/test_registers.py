# SPDX-License-Identifier: GPL-2.0-or-later
"""A program's floating-point registers survive page faults, other threads, signals and forks (kernel/patches/6.12)."""

from pathlib import Path

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest.registers import lost


def test_no_thread_loses_a_floating_point_register(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = boot.call(lost, {"threads": 3, "rounds": 200}, tmp_path, kernel, world.root).result
    assert len(found) > 4
    assert set(found.values()) == {0}, found
