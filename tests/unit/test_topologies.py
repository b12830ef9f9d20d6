# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology is one thing, whether containerlab or Mininet reads it."""

from pathlib import Path

import pytest

from lab.base import paths
from lab.base.errors import UserError
from lab.commands import inventory
from lab.schema import mininet
from lab.schema.topology import load_topology

EDITS = {
    "an address": ('"10.0.3.2/24"', '"10.0.3.9/24"', "client: ip address add 10.0.3.2/24 dev eth1"),
    "a route": ('"10.0.2.2")]', '"10.0.2.9")]', "gateway: ip route add 10.0.3.0/24 via 10.0.2.2"),
    "an interface": ('"satellite:eth2"', '"satellite:eth7"', "satellite: ip address add 10.0.3.1/24 dev eth2"),
    "a node": ('self.addHost("client"', 'self.addHost("more"); self.addHost("client"', "more: it exists"),
}


@pytest.mark.parametrize("name", inventory.topologies())
def test_both_files_of_every_topology_build_the_same(name: str) -> None:
    mininet.require_same(load_topology(name, "test"))


@pytest.mark.parametrize("what", EDITS)
def test_a_difference_is_named(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, named = EDITS[what]
    topology = load_topology("path", "test")
    text = (paths.TOPOLOGIES / "path/mininet.py").read_text()
    assert old in text
    (tmp_path / "path").mkdir()
    (tmp_path / "path/mininet.py").write_text(text.replace(old, new))
    monkeypatch.setattr(mininet, "TOPOLOGIES", tmp_path)
    with pytest.raises(UserError, match=r"topologies/path/mininet.py: ") as refused:
        mininet.require_same(topology)
    assert named in str(refused.value)


def test_a_wire_that_only_one_file_has_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = load_topology("path", "test")
    topology.topology.links.pop()
    monkeypatch.setattr(mininet, "TOPOLOGIES", paths.TOPOLOGIES)
    with pytest.raises(UserError, match="link client:eth1 - satellite:eth2: must be in both files"):
        mininet.require_same(topology)


def test_containers_have_no_second_way_out_and_no_registry_is_asked_for_their_image() -> None:
    for name in inventory.topologies():
        graph = load_topology(name, "test").topology
        for node in graph.nodes.values():
            assert (node.network_mode or graph.defaults.network_mode) == "none"
            assert (node.image_pull_policy or graph.defaults.image_pull_policy) == "Never"


def test_the_senders_of_a_dumbbell_are_as_many_as_asked_for() -> None:
    nodes, wires = mininet.read(paths.TOPOLOGIES / "dumbbell/mininet.py", "dumbbell")
    assert {name for name in nodes if name.startswith("server")} == {"server1", "server2"}
    assert len(wires) == 6
