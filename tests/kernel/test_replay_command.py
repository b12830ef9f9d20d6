# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab replay` shapes interfaces of a network that is not the lab's, and gives them back, however it ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.tc_alone import constant_delay, constant_rate
from tests.guest import own_network

OnGuest = Callable[..., dict[str, Any]]
NETEM = constant_delay({"limit_pkts": 1000, "delay_us": 20_000, "loss_pct": 0.0, "seed": 1})
TBF = constant_rate(10_000_000, 100_000)
DELAY_MS = {"before": 20, "during": 70}
SERIES = {
    "delay-down.tsv": "0\t20000\t0\n500000\t70000\t0\n9000000\tend\n",
    "bottleneck.tsv": "0\t10000000\n400000\t5000000\n9000000\tend\n",
}


def shapes(node: str) -> list[dict[str, Any]]:
    """A delay line and a bottleneck on one interface, both changed while it runs."""
    found = (("delay-down", NETEM), ("bottleneck", TBF))
    return [
        {"part": part, "node": node, "dev": own_network.DEV, "spec": spec, "steps": f"link/{part}.tsv"}
        for part, spec in found
    ]


@pytest.fixture
def on_guest(tmp_path: Path, kernel: Kernel, world: Image) -> OnGuest:
    def called(function: Callable[..., Any], **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = boot.call(function, arguments, tmp_path, kernel, world.root).result
        return answer

    return called


@pytest.mark.parametrize("node", [own_network.NODE, own_network.HOST])
def test_an_interface_of_a_namespace_or_a_mininet_host_follows_the_series(on_guest: OnGuest, node: str) -> None:
    reported = on_guest(own_network.replayed, shapes=shapes(node), files=SERIES, duration_s=3.0, end="whole")
    assert reported["errors"] == ""
    delay, rate = reported["during"]
    assert (delay["kind"], delay["options"]["delay"]["delay"]) == ("netem", 0.07)
    assert (rate["kind"], rate["parent"], rate["options"]["rate"]) == ("tbf", "1:1", 5_000_000 / 8)
    assert 70 <= reported["round_trip_ms"] < 75
    lines = reported["printed"].splitlines()
    assert [line.split(", ")[0] for line in lines] == [f"{node}:eth1: delay-down", f"{node}:eth1: bottleneck"]
    assert all("2 changes" in line for line in lines)


@pytest.mark.parametrize("end", ["whole", "interrupted", "abandoned"])
def test_it_takes_everything_down_at_its_end(on_guest: OnGuest, end: str) -> None:
    files, node = SERIES, own_network.HOST
    reported = on_guest(own_network.replayed, shapes=shapes(node), files=files, duration_s=3.0, end=end)
    assert reported["during"] != reported["before"]
    left = {"qdiscs": reported["before"], "names": [own_network.NODE, own_network.OTHER], "claims": []}
    assert reported["after"] == left
    assert reported["cleaned"] == ""


def test_what_a_killed_one_leaves_is_removed_by_the_next(on_guest: OnGuest) -> None:
    node = own_network.HOST
    reported = on_guest(own_network.replayed, shapes=shapes(node), files=SERIES, duration_s=3.0, end="killed")
    assert reported["after"]["qdiscs"] == reported["during"]
    assert len(reported["after"]["names"]) == 3
    left = {"qdiscs": reported["before"], "names": [own_network.NODE, own_network.OTHER], "claims": []}
    assert reported["at_last"] == left
    assert [line.split(" lab-replay-")[0] for line in reported["cleaned"].splitlines()] == [
        "qdiscs of",
        "network namespace's name",
    ]


def test_a_qdisc_of_the_users_own_is_left_alone(on_guest: OnGuest) -> None:
    command = f"tc -n {own_network.NODE} qdisc add dev {own_network.DEV} root handle 7: netem delay 5ms"
    reported = on_guest(own_network.refused, shapes=shapes(own_network.NODE), command=command)
    assert reported["errors"] == (
        "left:eth1: qdisc=netem: must be the kernel's own: 'tc qdisc del dev eth1 root' there\n"
    )
    assert reported["after"] == reported["before"]
