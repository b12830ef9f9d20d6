# SPDX-License-Identifier: GPL-2.0-or-later
"""A topology's mininet.py, read without Mininet, and held against the containerlab file beside it.

The file's own code runs; only the two classes of Mininet that it builds on are stood in for, by ones that write
down what they are told.
"""

import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from lab.base.errors import UserError
from lab.base.paths import TOPOLOGIES
from lab.schema.topology import Topology

Nodes = dict[str, set[str]]  # what is run in each
Wires = set[frozenset[str]]


class _Node:
    """Mininet's node: configured with parameters, it runs commands."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def config(self, **params: Any) -> None:
        """Note the default route, as Mininet sets it."""
        if params.get("defaultRoute"):
            self.commands.append(f"ip route add default {params['defaultRoute']}")

    def cmd(self, *words: str) -> None:
        """Note a command."""
        self.commands.append(" ".join(words))


class _Topo:
    """Mininet's topology: what `build` adds."""

    def __init__(self) -> None:
        self.nodes: dict[str, _Node] = {}
        self.wires: Wires = set()
        self.build()

    def build(self) -> None:
        """Add nothing."""

    def addHost(self, name: str, cls: type[_Node] = _Node, **params: Any) -> None:  # noqa: N802 (Mininet's name)
        """Note a node."""
        self.nodes[name] = cls()
        self.nodes[name].config(**params)

    def addLink(self, one: str, other: str, **params: Any) -> None:  # noqa: N802
        """Note a wire, and the addresses at its ends."""
        ends = {1: one, 2: other}
        for number, node in ends.items():
            address = f"ip address add {params[f'params{number}']['ip']} dev {params[f'intfName{number}']}"
            self.nodes[node].commands.append(address)
        self.wires.add(frozenset(f"{node}:{params[f'intfName{number}']}" for number, node in ends.items()))


def require_same(topology: Topology) -> None:
    """Refuse a topology whose mininet.py builds something else than its containerlab file."""
    file = TOPOLOGIES / topology.name / "mininet.py"
    shown = f"topologies/{topology.name}/mininet.py"
    if not file.exists():
        raise UserError(f"{shown}: must be there: the same topology for Mininet")
    nodes, wires = read(file, topology.name)
    graph = topology.topology
    asked = {name: set(node.exec) for name, node in graph.nodes.items()}
    for name in sorted(asked.keys() | nodes.keys()):
        for line in sorted(asked.get(name, {"it exists"}) ^ nodes.get(name, {"it exists"})):
            where = (
                "only there" if name in nodes and line in nodes[name] else f"not there, but in {topology.name}.clab.yml"
            )
            raise UserError(f"{shown}: {name}: {line}: {where}: both must build the same")
    for wire in wires ^ {frozenset(link.endpoints) for link in graph.links}:
        raise UserError(f"{shown}: link {' - '.join(sorted(wire))}: must be in both files")


def read(file: Path, name: str) -> tuple[Nodes, Wires]:
    """Return what a mininet.py builds by default: the commands that each node runs, and the wires."""
    with _stood_in():
        topos = runpy.run_path(str(file)).get("topos", {})
        if name not in topos:
            raise UserError(f"{file}: topos={sorted(topos)}: must have {name}, for 'mn --topo {name}'")
        topo = topos[name]()
    return {node: set(told.commands) for node, told in topo.nodes.items()}, topo.wires


@contextmanager
def _stood_in() -> Iterator[None]:
    """Let `mininet` be ours while the block runs."""
    ours = {name: ModuleType(name) for name in ("mininet", "mininet.node", "mininet.topo")}
    ours["mininet.node"].__dict__.update(Node=_Node, Host=_Node)
    ours["mininet.topo"].__dict__.update(Topo=_Topo)
    before = {name: sys.modules.get(name) for name in ours}
    sys.modules.update(ours)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
