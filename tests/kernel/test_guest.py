# SPDX-License-Identifier: GPL-2.0-or-later
"""A function of ours runs as root in a kernel booted for it, from a compiled copy of our code, without processes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.backends import boot, guest_code
from lab.backends.boot import Called
from lab.backends.records import TrialError
from lab.base import paths
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import sample as guest_sample
from tests.guest import without_processes as guest
from tests.guest.sample import lost


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Called:
    folder = tmp_path_factory.mktemp("guest")
    return boot.call(guest_sample.looked_around, {"path": "/lab"}, folder, kernel, world.root)


def test_a_function_gets_its_arguments_and_answers_in_virtual_time_with_the_kernels_log(called: Called) -> None:
    assert set(called.result["entries"]) == {"lab", "tests"}
    assert called.result["uid"] == 0
    assert called.result["hour_s"] == pytest.approx(3600, abs=0.01)
    assert "Linux version" in called.log
    assert re.search(r"^tcp_\w+: loading out-of-tree module", called.log, re.MULTILINE)  # which is first, is theirs


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (guest_sample.failed, "^it could not be done$"),
        (guest_sample.broke, r"^bug in the node's code: KeyError\('a bug'\)$"),
        (guest_sample.crashed, "^virtual kernel: exit status .*panic"),
    ],
)
def test_what_goes_wrong_there_is_reported_here(
    tmp_path: Path, kernel: Kernel, world: Image, function: Callable[[], None], words: str
) -> None:
    with pytest.raises(TrialError, match=words):
        boot.call(function, {}, tmp_path, kernel, world.root)
    assert "Linux version" in (tmp_path / "kernel.log").read_text()


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
    brought = guest_code.sources(guest_code.package_of("lab_quic.node.quic"))  # of packages/
    assert {"lab/node/guest.py", "lab_quic/__init__.py", "lab_quic/node/quic.py"} <= brought.keys()
    assert not any(name.startswith("lab_quic/stack") for name in brought)
    files = guest_code.sources(guest_code.OWN)
    assert {file for file in files if not file.startswith("lab/node/")} == {"lab/__init__.py"}


def test_the_worlds_python_compiles_the_same_bytes_without_a_sandbox(
    world: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    for mode in ("bubblewrap", "none"):
        monkeypatch.setenv("LAB_SANDBOX", mode)
        copy = tmp_path / mode
        guest_code._fill(copy, guest_code.OWN, world.root)
        compiled.append({file.name: file.read_bytes() for file in copy.rglob("*.pyc")})
    assert len(compiled[0]) > 1
    assert compiled[0] == compiled[1]


def test_addresses_and_routes_are_those_that_ip_would_add(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = boot.call(guest.routed, {}, tmp_path, kernel, world.root).result
    (address,) = found["addresses"]
    assert (address["local"], address["prefixlen"], address["scope"]) == ("10.0.1.1", 24, "global")
    assert "broadcast" not in address
    routes = {each["dst"]: each for each in found["routes"]}
    assert routes["10.0.2.0/24"]["gateway"] == routes["default"]["gateway"] == "10.0.1.2"
    assert routes["default"]["protocol"] == "boot"
    for each in ("default", "10.0.2.0/24"):
        assert routes[each]["metrics"] == [{name: int(value) for name, value in guest.METRICS.items()}]
    assert found["left"] == []


def test_qdiscs_are_counted_and_modules_brought_as_by_the_tools(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = boot.call(guest.counted, {}, tmp_path, kernel, world.root).result
    assert found["netlink"] == found["tc"]
    assert found["tc"][2] > 0
    found = boot.call(guest.loaded, {"name": "tcp_search", "params": {}}, tmp_path, kernel, world.root).result
    assert found["loaded"] == ["tcp_search_core", "tcp_search"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ip route add default via 10.9.9.9", r"^ip -batch -: exit status 1: Error: Nexthop has invalid gateway"),
        ("ip address add 10.0.1.2/99 dev eth1", r"^ip -batch -: exit status 1: Error: .*10\.0\.1\.2/99"),
        ("ip address add 10.0.1.2/24 dev eth9", r'^ip -batch -: exit status 1: Cannot find device "eth9"'),
    ],
)
def test_ip_reports_what_is_refused(tmp_path: Path, kernel: Kernel, world: Image, line: str, words: str) -> None:
    with pytest.raises(TrialError, match=words):
        boot.call(guest.refused, {"line": line}, tmp_path, kernel, world.root)


def test_no_thread_loses_a_floating_point_register(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = boot.call(lost, {"threads": 3, "rounds": 200}, tmp_path, kernel, world.root).result
    assert len(found) > 4
    assert set(found.values()) == {0}, found
