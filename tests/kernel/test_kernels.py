# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels that users have each run a trial exactly, and the bench reports where HyStart leaves on each."""

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from bench.kernels import EARLIER, ITS_OWN, LINKS, cubic_exits, shown
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEBIAN
from tests.conftest import SMALL, Bench, experiment_on

CAUSES = {"search": "search", "hystartpp": "loss", "bbr": "bbr", "cubic_plain": "loss"}  # over the small path


@pytest.fixture(scope="module", params=DEBIAN)
def version(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def built(version: str) -> Kernel:
    if not (kernel := build.find(Recipe(version))):
        pytest.skip(f"kernel {version} is not built: lab kernel build --kernel {version}")
    return kernel


def test_every_kernel_gives_valid_trials_in_which_hystart_ends_slow_start(
    version: str, built: Kernel, tmp_path: Path, world: Image
) -> None:
    rows = cubic_exits({version: built}, tmp_path, world)
    print(shown(rows))
    assert {(row["kernel"], row["link"]) for row in rows} == {(version, link) for link in LINKS}
    assert all(row["valid"] for row in rows), shown(rows)
    assert {row["cause"] for row in rows} <= {"hystart", "loss"}
    pkts = {(row["hystart"], row["link"]): row["cwnd_pkts"] for row in rows}
    long = "50 Mb/s, 300 ms"
    assert pkts[EARLIER, long] < pkts[ITS_OWN, long] / 2, shown(rows)  # before 6.14 the rounds were marked wrongly


@pytest.mark.parametrize("sender", CAUSES)
def test_on_every_kernel_a_sender_leaves_for_the_same_cause_and_a_trial_twice_is_the_same_packets(
    sender: str, built: Kernel, tmp_path: Path, world: Image
) -> None:
    bench = Bench(tmp_path, built, world)
    once, again = (bench.run(experiment_on(SMALL, sender), sender, name) for name in ("once", "again"))
    assert once.valid
    assert once.exits["cause"][0] == CAUSES[sender]
    assert_frame_equal(once.packets, again.packets)
    assert_frame_equal(once.exits, again.exits)


def test_what_is_no_kernel_is_refused(world: Image) -> None:
    assert world
    assert shown([]) == "nothing was run"
