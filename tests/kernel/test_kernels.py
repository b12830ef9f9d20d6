# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels that users have each run a trial exactly, and the bench reports where HyStart leaves on each."""

from pathlib import Path

import pytest

from lab.bench.kernels import LINKS, cubic_exits, shown
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.recipe import DEBIAN, Recipe


@pytest.mark.parametrize("version", DEBIAN)
def test_every_kernel_gives_valid_trials_in_which_hystart_ends_slow_start(
    version: str, tmp_path: Path, world: Image
) -> None:
    if not (kernel := build.find(Recipe(version))):
        pytest.skip(f"kernel {version} is not built: lab kernel build --kernel {version}")
    rows = cubic_exits({version: kernel}, tmp_path, world)
    print(shown(rows))
    assert {(row["kernel"], row["link"]) for row in rows} == {(version, link) for link in LINKS}
    assert all(row["valid"] for row in rows), shown(rows)
    assert {row["cause"] for row in rows} <= {"hystart", "loss"}


def test_what_is_no_kernel_is_refused(world: Image) -> None:
    assert world
    assert shown([]) == "nothing was run"
