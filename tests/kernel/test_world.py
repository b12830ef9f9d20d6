# SPDX-License-Identifier: GPL-2.0-or-later
"""The images hold what the lab needs, at the versions that are pinned, and are cached by all they are made from."""

import pytest

from lab.images import image
from lab.images.image import Image

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
