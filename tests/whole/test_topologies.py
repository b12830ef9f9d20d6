# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology is one containerlab file; a new one needs nothing else."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lab.base import paths
from lab.base.errors import UserError
from lab.base.named_files import topology_files
from lab.commands.inventory import check_all
from lab.schema.topology import load_topology


@pytest.mark.parametrize("name", topology_files())
def test_containers_have_no_second_way_out_and_their_image_comes_from_no_registry(name: str) -> None:
    graph = load_topology(name, "test").topology
    for node in graph.nodes.values():
        assert (node.network_mode or graph.defaults.network_mode) == "none"
        assert (node.image_pull_policy or graph.defaults.image_pull_policy) == "Never"


class Shell:
    """Mininet's node as far as the generic topology needs it: it remembers the commands that it runs."""

    def __init__(self, name: str, prints: str = "") -> None:
        self.name, self.prints, self.commands = name, prints, list[str]()

    def config(self, **params: Any) -> None:
        assert params["ip"] is None

    def cmd(self, command: str) -> str:
        self.commands.append(command)
        return self.prints

    def intfList(self) -> list[Any]:  # noqa: N802 (Mininet's name)
        return []


class Graph:
    """Mininet's topology as far as the generic one needs it."""

    def __init__(self, *arguments: Any) -> None:
        self.hosts: dict[str, dict[str, Any]] = {}
        self.wires: list[tuple[str, str]] = []
        self.build(*arguments)

    def build(self, *arguments: Any) -> None:
        raise NotImplementedError

    def addHost(self, name: str, **params: Any) -> None:  # noqa: N802
        self.hosts[name] = params

    def addLink(self, one: str, other: str, intfName1: str, intfName2: str) -> None:  # noqa: N802, N803
        self.wires.append((f"{one}:{intfName1}", f"{other}:{intfName2}"))


@pytest.fixture
def mininet(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the names of topologies/mininet.py; Mininet itself needs root and a kernel: scripts/test-vm runs it."""
    for name, members in (("mininet", {}), ("mininet.node", {"Node": Shell}), ("mininet.topo", {"Topo": Graph})):
        module = ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
    return runpy.run_path(str(paths.TOPOLOGIES / "mininet.py"))


def test_mininets_file_says_what_reads_it_where_it_is_run_itself() -> None:
    done = subprocess.run([sys.executable, paths.TOPOLOGIES / "mininet.py"], capture_output=True, text=True)
    rule = "must be read by Mininet: sudo mn --custom FILE --topo clab,TOPOLOGY"
    assert (done.returncode, done.stderr) == (2, f"topologies/mininet.py: {rule}\n")


@pytest.mark.parametrize("name", topology_files())
def test_mininet_builds_the_nodes_and_links_of_the_containerlab_file(name: str, mininet: dict[str, Any]) -> None:
    built = mininet["topos"]["clab"](str(topology_files()[name]))
    graph = load_topology(name, "test").topology
    assert built.wires == [tuple(link.endpoints) for link in graph.links]
    assert built.hosts.keys() == graph.nodes.keys()
    for node, host in built.hosts.items():
        shell = host.pop("cls")(node)
        shell.config(**host)
        ends = [(end.split(":"), link.mtu) for link in graph.links for end in link.endpoints]
        up = [f"ip link set dev {dev} mtu {mtu} up" for (owner, dev), mtu in ends if owner == node]
        assert shell.commands == [*up, *graph.nodes[node].exec]


def test_a_command_that_fails_in_mininet_ends_the_network(mininet: dict[str, Any]) -> None:
    node = mininet["ClabNode"]("server", prints="RTNETLINK answers: File exists\n")
    with pytest.raises(RuntimeError, match=r"^server: ip route add default via 10.0.1.2: RTNETLINK answers"):
        node.config(commands=["ip route add default via 10.0.1.2"], ip=None)


def test_a_topology_in_a_folder_of_the_users_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TOPOLOGIES", str(tmp_path))
    shutil.copytree(topology_files()["path"].parent, tmp_path / "mine")
    with pytest.raises(UserError, match=r"mine/path.clab.yml: name=path.clab.yml: must be mine.clab.yml"):
        load_topology("mine", "test")
    file = (tmp_path / "mine/path.clab.yml").rename(tmp_path / "mine/mine.clab.yml")
    assert load_topology("mine", "test").part("bottleneck") == ("gateway", "eth2")
    *_, summary = check_all()
    assert f", {len(topology_files())} topologies" in summary
    file.write_text(file.read_text().replace("lab.bottleneck:", "lab.bottle:"))
    with pytest.raises(UserError, match=r"mine.clab.yml: .*must be a topology with exactly one label lab.bottleneck"):
        list(check_all())


def test_a_name_that_two_folders_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(topology_files()["path"].parent, tmp_path / "path")
    monkeypatch.setenv("LAB_TOPOLOGIES", str(tmp_path))
    with pytest.raises(UserError, match=r"name=path: must be another name: topologies/path/path.clab.yml has it"):
        load_topology("path", "test")
