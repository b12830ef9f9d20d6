# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies: containerlab's own file, which every engine brings up; labels name the interface of each role."""

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from lab.base.choice import choose
from lab.base.named_files import NAME, topology_files
from lab.schema.load import Strict, load

DEV = re.compile(r"[A-Za-z0-9_.-]{1,15}")  # the kernel's IFNAMSIZ is 16
ROLES = ("sender", "receiver")
RIVALS = ("rival-sender", "rival-receiver")  # of a second download at the same time: optional
SHAPES = ("bottleneck", "delay-down", "bottleneck-up", "delay-up")


class Container(Strict):
    """What containerlab makes a node of."""

    kind: str | None = None
    image: str | None = None
    image_pull_policy: Annotated[
        Literal["Never", "IfNotPresent", "Always"] | None, Field(alias="image-pull-policy")
    ] = None
    network_mode: Annotated[Literal["none"] | None, Field(alias="network-mode")] = None  # no management network


class Node(Container):
    """A host or router; `exec` runs inside it once its links are up."""

    exec: list[str] = []
    labels: dict[str, str] = {}


class Link(Strict):
    """A link between two interfaces, each written `node:interface`."""

    endpoints: Annotated[list[str], Field(min_length=2, max_length=2)]
    mtu: Annotated[int, Field(ge=576, le=65535)]


class Graph(Strict):
    """Nodes and links; `defaults` hold for each node that does not override them."""

    defaults: Container = Container()
    nodes: dict[str, Node]
    links: Annotated[list[Link], Field(min_length=1)]

    @field_validator("nodes")
    @classmethod
    def _plain_names(cls, nodes: dict[str, Node]) -> dict[str, Node]:
        for name in nodes:
            if not NAME.fullmatch(name):  # an engine makes files and namespaces of it
                raise ValueError("nodes whose names have letters, digits and _ . - only")
        return nodes

    @model_validator(mode="after")
    def _ends_exist(self) -> "Graph":
        for link in self.links:
            for end in link.endpoints:
                if end.count(":") != 1 or end.split(":")[0] not in self.nodes or not DEV.fullmatch(end.split(":")[1]):
                    raise ValueError(f"node:interface of a known node, not {end}")
        return self

    @model_validator(mode="after")
    def _nodes_have_a_kind(self) -> "Graph":
        for name, node in self.nodes.items():
            if not (node.kind or self.defaults.kind):
                raise ValueError(f"a kind for node {name}, of its own or by default")
        return self


class Topology(Strict):
    """A containerlab file with the lab's labels."""

    name: str
    topology: Graph

    @model_validator(mode="after")
    def _has_each_role_once(self) -> "Topology":
        for role in (*ROLES, *SHAPES):
            if len(self.labelled(role)) != 1:
                raise ValueError(f"a topology with exactly one label lab.{role}")
        return self

    @model_validator(mode="after")
    def _roles_are_wired(self) -> "Topology":
        ends = [end for link in self.topology.links for end in link.endpoints]
        wired = {end.split(":")[0] for end in ends}
        for role in (*ROLES, *RIVALS):
            for node, _ in self.labelled(role):
                if node not in wired:
                    raise ValueError(f"a topology in which {node}, its lab.{role}, has a link")
        for role in SHAPES:
            if ":".join(self.part(role)) not in ends:
                raise ValueError(f"a topology whose lab.{role} is an interface of one of the node's links")
        if len(set(ends)) != len(ends):
            raise ValueError("a topology in which each interface has one link")
        return self

    def labelled(self, role: str) -> list[tuple[str, str]]:
        """Return (node, value) of every node that carries the label lab.<role>."""
        key = f"lab.{role}"
        return [(name, node.labels[key]) for name, node in self.topology.nodes.items() if key in node.labels]

    def part(self, role: str) -> tuple[str, str]:
        """Return the (node, interface) of a role; for sender and receiver (node, address)."""
        return self.labelled(role)[0]

    @property
    def rivals(self) -> tuple[tuple[str, str], ...]:
        """Return the (node, address) of a second server and of its client; empty where the topology has none."""
        return tuple(pair for role in RIVALS for pair in self.labelled(role))

    @property
    def mtu_bytes(self) -> int:
        """Return the largest packet that every wire carries."""
        return min(link.mtu for link in self.topology.links)


def load_topology(name: str, named_in: str) -> Topology:
    """Read a topology by name; `named_in` is the file or command that names it, for the error."""
    known = topology_files()
    return load(Topology, known[choose("topology", name, list(known), named_in, "topology")])
