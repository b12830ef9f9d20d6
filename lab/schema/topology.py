# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies: containerlab's own file, which every engine brings up; labels name the interface of each role."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, field_validator

from lab.base.errors import Faults, UserError, field_error
from lab.base.named_files import NAME, shown, topology_file
from lab.schema.clab import needed
from lab.schema.load import Strict, faults_of, parse, read_yaml
from lab.schema.sysctls import load_sysctls

DEV = re.compile(r"[A-Za-z0-9_.-]{1,15}")  # the kernel's IFNAMSIZ is 16
ROLES = ("sender", "receiver")
RIVALS = ("rival-sender", "rival-receiver")  # of other downloads at the same time: none, or pairs of them
SHAPES = ("bottleneck", "delay-down", "bottleneck-up", "delay-up")
DEFAULT_MTU = 1500
IPV6 = re.compile(r"\s-6\b|\binet6\b|\bnet\.ipv6\b|[\s=][0-9a-fA-F:]*::")  # in a node's line
METRICS = re.compile(r"\br(?:o\w*)?\s.*\b(init[cr]wnd|rto_min|advmss|quickack|congctl|ssthresh|cwnd|window|mtu)\b")
OFFLOAD = re.compile(r"\bethtool\s+(?:-K|--offload|--features)\s.*\bon\b")


class Container(Strict):
    """What containerlab makes a node of."""

    kind: str | None = None
    image: str | None = None
    image_pull_policy: Annotated[
        Literal["Never", "IfNotPresent", "Always", "never", "ifnotpresent", "always"] | None,
        Field(alias="image-pull-policy"),
    ] = None
    network_mode: Annotated[Literal["none", "bridge"] | None, Field(alias="network-mode")] = None  # none: no management


class Node(Container):
    """A host or router; `exec` runs inside it once its links are up."""

    exec: list[str] = []
    labels: dict[str, str] = {}


class Link(Strict):
    """A link between two interfaces, each written `node:interface`."""

    endpoints: Annotated[list[str], Field(min_length=2, max_length=2)]
    mtu: Annotated[int, Field(ge=576, le=65535)] = DEFAULT_MTU


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


class Topology(Strict):
    """A containerlab file with the lab's labels."""

    name: str
    topology: Graph

    _file: Path = PrivateAttr(default=Path("topology"))
    _passed_over: tuple[str, ...] = PrivateAttr(default=())

    @property
    def file(self) -> Path:
        return self._file

    @property
    def note(self) -> str | None:
        """Return what of the file the lab does not need, in one line."""
        if not self._passed_over:
            return None
        return f"{shown(self._file)}: passed over, for the lab does not need it: {', '.join(self._passed_over)}"

    def labelled(self, role: str) -> list[tuple[str, str]]:
        """Return (node, value) of every node that carries the label lab.<role>."""
        key = f"lab.{role}"
        return [(name, node.labels[key]) for name, node in self.topology.nodes.items() if key in node.labels]

    def part(self, role: str) -> tuple[str, str]:
        """Return the (node, interface) of a role; for sender and receiver (node, address)."""
        return self.labelled(role)[0]

    @property
    def rivals(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Return pairs of other servers and their clients, each as (node, address), in the order of the file."""
        return list(zip(*map(self.labelled, RIVALS), strict=True))

    @property
    def mtu_bytes(self) -> int:
        """Return the largest packet that every wire carries."""
        return min(link.mtu for link in self.topology.links)

    def plain(self) -> dict[str, Any]:
        """Return the content of a containerlab file that has only what the lab needs."""
        return self.model_dump(by_alias=True, exclude_none=True)


def load_topology(name: str, named_in: str, labelled: bool = True) -> Topology:
    """Read a topology by name, or by the path of a .yml file, and require its labels where it is to be `labelled`.

    `named_in` is the file or command that names it, for the error; Faults has a line for each that is wrong.
    """
    found, wrong = _read(name, named_in)
    wrong += role_faults(found) if found and labelled else []
    if wrong or found is None:
        raise Faults(wrong)
    return found


def _read(name: str, named_in: str) -> tuple[Topology | None, list[UserError]]:
    """Read a file, and what is wrong with it; no topology where the rest of it is none."""
    file = topology_file(name, named_in)
    content, passed_over, wrong = needed(read_yaml(file), file)
    more, usable = faults_of(Topology, content, file)
    if usable is None:
        return None, wrong + more
    found = parse(Topology, usable, file)
    found._file, found._passed_over = file, passed_over
    return found, wrong + more + graph_faults(found, file)


def graph_faults(topology: Topology, file: Path) -> list[UserError]:
    """Return what is wrong with the ends of links and the kinds of nodes."""
    graph, place = topology.topology, shown(file)
    ends = [end for link in graph.links for end in link.endpoints]
    wrong = []
    for end in filter(None, dict.fromkeys(ends)):  # an end of a link that was refused is empty
        if end.count(":") != 1 or end.split(":")[0] not in graph.nodes:
            rule = "node:interface of a known node: the lab has no links to a host, a bridge or a network outside"
            wrong.append(field_error(place, "topology.links.endpoints", end, rule))
        elif not DEV.fullmatch(end.split(":")[1]):
            rule = "node:interface, the interface as Linux names it: 1 to 15 letters, digits and _ . -"
            wrong.append(field_error(place, "topology.links.endpoints", end, rule))
        elif ends.count(end) > 1:
            wrong.append(field_error(place, "topology.links.endpoints", end, "in one link only"))
    for name, node in graph.nodes.items():
        if not (node.kind or graph.defaults.kind):
            wrong.append(field_error(place, f"topology.nodes.{name}.kind", "", "given, of its own or by default"))
    return wrong


def role_faults(topology: Topology) -> list[UserError]:
    """Return which of the lab's labels are missing, stand twice, or name what has no link."""
    place = shown(topology.file)
    have = {role: topology.labelled(role) for role in (*ROLES, *SHAPES, *RIVALS)}
    missing = ", ".join(f"lab.{role}" for role in (*ROLES, *SHAPES) if not have[role])
    wrong = []
    if missing:
        rule = f"a topology with exactly one label {missing} (topologies/path/README.md states what each names)"
        wrong.append(field_error(place, "labels", "", rule))
    servers, clients = (len(have[role]) for role in RIVALS)
    if servers != clients:
        rule = f"on as many nodes as lab.rival-sender, {servers}"
        wrong.append(field_error(place, "lab.rival-receiver", clients, rule))
    ends = {end for link in topology.topology.links for end in link.endpoints}
    for role, nodes in have.items():
        if len(nodes) > 1 and role not in RIVALS:
            rule = f"a topology with exactly one label lab.{role}"
            wrong.append(field_error(place, f"lab.{role}", ", ".join(node for node, _ in nodes), rule))
        for node, value in nodes:
            if role in SHAPES and f"{node}:{value}" not in ends:
                rule = f"a topology whose lab.{role} is an interface of one of the node's links"
                wrong.append(field_error(place, f"lab.{role}", f"{node}:{value}", rule))
            elif role not in SHAPES and not any(end.startswith(f"{node}:") for end in ends):
                rule = f"a topology in which {node}, its lab.{role}, has a link"
                wrong.append(field_error(place, f"lab.{role}", node, rule))
    return wrong + node_faults(topology)


def node_faults(topology: Topology) -> list[UserError]:
    """Return what of the nodes no trial has: other systems than Linux, IPv6, addresses that no line sets."""
    graph, place, wrong = topology.topology, shown(topology.file), list[UserError]()
    ends = [name for role in (*ROLES, *RIVALS) for name, _ in topology.labelled(role)]
    pinned = load_sysctls()
    settings = [re.compile(rf"{re.escape(each)}(?![\w.])") for each in (*pinned.ends, *pinned.kernel)]
    for name, node in graph.nodes.items():
        here, kind = f"topology.nodes.{name}", node.kind or graph.defaults.kind or "linux"
        if kind != "linux":
            wrong.append(field_error(place, f"{here}.kind", kind, "linux in a trial: each node is a Linux of the lab"))
        shaped = [(role, dev) for role in SHAPES for owner, dev in topology.labelled(role) if owner == name]
        for at, line in enumerate(node.exec):
            found = _refusals(line, settings if name in ends else None, shaped)
            wrong += [field_error(place, f"{here}.exec.{at}", line, rule) for rule in found]
    for role in (*ROLES, *RIVALS):
        for name, address in topology.labelled(role):
            rule = f"an IPv4 address, without its mask, that an exec line of {name} sets"
            if not _is_set(address, graph.nodes[name].exec):
                wrong.append(field_error(place, f"topology.nodes.{name}.labels.lab.{role}", address, rule))
    return wrong


def _refusals(line: str, pinned: list[re.Pattern[str]] | None, shaped: list[tuple[str, str]]) -> Iterator[str]:
    """Yield why a node's line is refused; `pinned` is what a trial sets at an end, `shaped` (role, interface)s."""
    if IPV6.search(line):
        yield "left out in a trial: it goes over IPv4, and the virtual kernel has no IPv6"
    known = [found[0] for each in pinned or () if (found := each.search(line.replace("/", ".")))]
    if pinned is not None and (names := known + METRICS.findall(line)):
        yield f"left out at an end: every trial states {names[0]} itself (lab/sysctls.yml), and this has no effect"
    if OFFLOAD.search(line):
        yield "left out: the lab switches offloads off on every interface"
    for role, dev in shaped:
        if _shapes(line, dev):
            yield f"left out: the lab's own qdisc is there, the lab.{role} of the profile"


def _shapes(line: str, dev: str) -> bool:
    """Return whether a line gives an interface a qdisc, class or filter, by its name, in a loop or in a batch of tc."""
    named = rf"{re.escape(dev)}(?![\w.-])"
    if re.search(rf"\btc\s+(?:-\S+\s+)*-b|\b(?:tcset|tcdel|wondershaper)\b.*\s{named}", line):
        return True
    lines = re.finditer(r"\btc\s+(?:-\w+\s+)*[qcf]\w*\s[^;&|\n]*?\bdev\s+[\"']?(\S+)", line.replace("\\\n", " "))
    return any(re.match(named, to[1]) or (to[1][0] == "$" and re.search(rf"(?<![\w.-]){named}", line)) for to in lines)


def _is_set(address: str, lines: list[str]) -> bool:
    try:
        IPv4Address(address)
    except ValueError:
        return False
    return any(re.search(rf"(?<![\d.]){re.escape(address)}(?![\d.])", line) for line in lines)
