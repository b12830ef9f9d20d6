# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels that users have each run a trial exactly, and the images hold what the lab needs, at pinned versions."""

from pathlib import Path
from unittest import mock

import pytest
from polars.testing import assert_frame_equal

from bench.kernels import EARLIER, ITS_OWN, LINKS, cubic_exits
from lab.backends import boot
from lab.base import sandbox_mode
from lab.images import image
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEBIAN
from lab.runs import one_boot
from lab.runs.trial import run_trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.kernel.test_one_boot import digests, jobs

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
    assert {(row["kernel"], row["link"]) for row in rows} == {(version, link) for link in LINKS}
    assert all(row["valid"] for row in rows), rows
    assert {row["cause"] for row in rows} <= {"hystart", "loss"}
    pkts = {(row["hystart"], row["link"]): row["cwnd_pkts"] for row in rows}
    long = "50 Mb/s, 300 ms"
    assert pkts[EARLIER, long] < pkts[ITS_OWN, long] / 2, rows  # before 6.14 the rounds were marked wrongly


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


@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_trials_that_share_a_boot_are_those_of_their_own_whatever_stops_the_calls_of_their_programs(
    version: str, built: Kernel, tmp_path: Path, world: Image, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv(sandbox_mode.VARIABLE, mode)
    booted = mock.Mock(wraps=boot._command)
    monkeypatch.setattr(boot, "_command", booted)
    bench, experiment = Bench(tmp_path, built, world), experiment_on(SMALL, "search", trials=2)
    alone, together = (jobs(bench, experiment, tmp_path / name, [1, 2]) for name in ("alone", "together"))
    run_trial(alone[1])
    assert all(one_boot.run(together))
    assert digests(together[1].folder) == digests(alone[1].folder)
    by_filters = ["seccomp=auto" in call.args[1] for call in booted.call_args_list]
    assert by_filters == [False, version.startswith("7.")]


TOOLS = {"ip", "tc", "iperf3", "tshark", "dumpcap", "ethtool", "modprobe", "sysctl", "nstat", "python3", "mount"}


def test_the_world_holds_each_package_at_its_pinned_version_and_every_tool(world: Image) -> None:
    found = {file.name for folder in ("bin", "sbin") for file in (world.root / "usr" / folder).iterdir()}
    assert found >= TOOLS
    pins = image.locked("world")
    assert set(image.listed("world")) <= set(world.versions)
    assert set(pins) == set(world.versions)
    for package, drift in world.drifted.items():
        assert drift == f"{pins[package]} -> {world.versions[package]}"
    assert all(world.versions[package] == pins[package] for package in set(pins) - set(world.drifted))
    major, minor = world.versions["iperf3"].split("-")[0].split(".")[:2]
    assert (int(major), int(minor.split("+")[0])) >= (3, 18)
    for point in image.MOUNT_POINTS:
        assert (world.root / point).is_dir()
    assert not list((world.root / "trial").iterdir())


def test_another_package_list_and_another_pin_are_other_images(monkeypatch: pytest.MonkeyPatch) -> None:
    before = image.digest("world")
    monkeypatch.setattr(image, "listed", lambda name: [f"{name}-package"])
    assert image.digest("world") != before
    before = image.digest("world")
    monkeypatch.setattr(image, "locked", lambda _name: {"iperf3": "9.9"})
    assert image.digest("world") != before
