# SPDX-License-Identifier: GPL-2.0-or-later
"""What the node does by system calls is what the tools would have done, and they report what the kernel refuses."""

from pathlib import Path

import pytest

from lab.backends import boot
from lab.backends.records import TrialError
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import without_processes as guest


def test_addresses_and_routes_are_those_that_ip_would_add(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    found = boot.call(guest.routed, {}, tmp_path, kernel, world.root).result
    (address,) = found["addresses"]
    assert (address["local"], address["prefixlen"], address["scope"]) == ("10.0.1.1", 24, "global")
    assert "broadcast" not in address
    routes = {each["dst"]: each for each in found["routes"]}
    assert routes["10.0.2.0/24"]["gateway"] == routes["default"]["gateway"] == "10.0.1.2"
    assert routes["default"]["protocol"] == "boot"
    assert routes["default"]["metrics"] == [{name: int(value) for name, value in guest.METRICS.items()}]
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
