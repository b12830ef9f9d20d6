# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies: containerlab's own file, which every engine brings up; labels say which interface plays which part."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from lab.base.paths import TOPOLOGIES
from lab.schema.load import Strict, choose, load, names

ROLES = ("sender", "receiver")
RIVALS = ("rival-sender", "rival-receiver")  # a second download beside the first: not every topology has them
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
    """A wire between two interfaces, worded `node:interface`."""

    endpoints: Annotated[list[str], Field(min_length=2, max_length=2)]
    mtu: Annotated[int, Field(ge=576, le=65535)]


class Graph(Strict):
    """Nodes and links; `defaults` hold for every node that does not say otherwise."""

    defaults: Container = Container()
    nodes: dict[str, Node]
    links: list[Link]

    @model_validator(mode="after")
    def _ends_exist(self) -> "Graph":
        for link in self.links:
            for end in link.endpoints:
                if end.count(":") != 1 or end.split(":")[0] not in self.nodes:
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
    def _parts_are_cast(self) -> "Topology":
        for part in (*ROLES, *SHAPES):
            if len(self.labelled(part)) != 1:
                raise ValueError(f"a topology with exactly one label lab.{part}")
        return self

    def labelled(self, part: str) -> list[tuple[str, str]]:
        """Return (node, value) of every node that carries the label lab.<part>."""
        key = f"lab.{part}"
        return [(name, node.labels[key]) for name, node in self.topology.nodes.items() if key in node.labels]

    def part(self, part: str) -> tuple[str, str]:
        """Return the (node, interface) that plays a part; for sender and receiver the address it is reached at."""
        return self.labelled(part)[0]

    @property
    def rivals(self) -> tuple[tuple[str, str], ...]:
        """Return the (node, address) of a second server and its client; nothing where the topology has none."""
        return tuple(pair for part in RIVALS for pair in self.labelled(part))

    @property
    def mtu_bytes(self) -> int:
        """Return the largest packet that every wire carries."""
        return min(link.mtu for link in self.topology.links)


def load_topology(name: str, asked_in: str) -> Topology:
    """Read the topology a scenario names."""
    known = sorted(folder.name for folder in TOPOLOGIES.iterdir() if names(folder, "*.clab.yml"))
    choose("topology", name, known, asked_in, "topology")
    return load(Topology, TOPOLOGIES / name / f"{name}.clab.yml")
