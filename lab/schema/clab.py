# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a containerlab file the lab needs; the rest of containerlab's fields is passed over, and named.

Source: containerlab's manual, "Topology definition", "Nodes" and "Links" (containerlab.dev/manual).
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.base.errors import UserError, field_error
from lab.base.named_files import shown

FILE_FIELDS = {"prefix", "mgmt", "settings", "debug"}
GRAPH_FIELDS = {"kinds", "groups"}
KEPT = {"kind", "image", "image-pull-policy", "network-mode"}  # of the defaults
ACTS = {"exec", "sysctls", "startup-config", "stages"}  # change what a node does: never passed over where they stand
NODE_FIELDS = set(
    """
    aliases auto-remove binds cap-add certificate cgroup-parent cgroupns-mode cmd components config cpu cpu-set
    credentials devices dns enforce-startup-config entrypoint env env-files extras group healthcheck hostname kernel
    labels license link-apply-mode memory mgmt-ipv4 mgmt-ipv6 mgmt_ipv4 mgmt_ipv6 pid-mode ports position privileged
    publish restart-policy runtime sandbox SANs security-opts shm-size startup-delay suppress-startup-config tmpfs type
    user version volumes wait-for
    """.split()
)
ADDRESSES = {"ipv4", "ipv6"}  # of a link's ends
LINK_FIELDS = {"labels", "vars"}
END_FIELDS = {"mac", "vars"}
VARIABLE = re.compile(r"\$(?:\{(\w+)|([A-Za-z_]\w*))|(__clab\w+__)")  # of the environment that deploys; "magic" ones
BY_LINES = "left out: write it as an exec line of the node, such as {}"


def needed(content: Any, file: Path) -> tuple[Any, tuple[str, ...], list[UserError]]:
    """Return the content without what is passed over, in the short form of links; the names of that; and faults."""
    if not isinstance(content, dict) or not isinstance(content.get("topology"), dict):
        return content, (), []
    reading = _Reading(shown(file))
    whole = reading.without(content, FILE_FIELDS, "")
    graph = reading.without(whole["topology"], GRAPH_FIELDS, "topology")
    for name in sorted(GRAPH_FIELDS & whole["topology"].keys()):
        reading.templates(whole["topology"][name], f"topology.{name}")
    if isinstance(graph.get("defaults"), dict):
        reading.refuse_acts(graph["defaults"], "topology.defaults", ACTS)
        graph["defaults"] = reading.without(graph["defaults"], NODE_FIELDS | ACTS, "topology.defaults", quiet=ACTS)
    if isinstance(graph.get("nodes"), dict):
        graph["nodes"] = {name: reading.node(node, f"topology.nodes.{name}") for name, node in graph["nodes"].items()}
        graph["nodes"] = reading.with_kinds(graph["nodes"], whole["topology"].get("groups"))
    if isinstance(graph.get("links"), list):
        graph["links"] = [reading.link(link, f"topology.links.{at}") for at, link in enumerate(graph["links"])]
    found = {name: _as_text(value) if name == "name" else value for name, value in whole.items()} | {"topology": graph}
    reading.refuse_variables(found)
    return found, tuple(reading.passed_over), reading.faults


def _texts(content: Any, place: str = "", around: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the place of each text, the text, and those of its list: a line may set what the next one uses."""
    if isinstance(content, str):
        yield place, content, around
    lines = "\n".join(map(str, content)) if isinstance(content, list) else ""
    fields = enumerate(content) if isinstance(content, list) else content.items() if isinstance(content, dict) else ()
    for name, value in fields:
        yield from _texts(value, f"{place}.{name}".lstrip("."), lines)


def _as_text(value: Any) -> Any:
    """Return a number or a flag of a label as containerlab has it: as text."""
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


class _Reading:
    """What was passed over and refused so far."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.passed_over: list[str] = []
        self.faults: list[UserError] = []

    def without(
        self, fields: dict[str, Any], unneeded: set[str], place: str, quiet: set[str] | None = None
    ) -> dict[str, Any]:
        """Return fields without those that are not needed, which are named but for the quiet ones."""
        names = [name for name in fields if name in unneeded]
        self.passed_over += [f"{place}.{name}".lstrip(".") for name in names if name not in (quiet or ())]
        return {name: value for name, value in fields.items() if name not in names}

    def refuse(self, place: str, value: Any, rule: str) -> None:
        """Keep a fault."""
        self.faults.append(field_error(self.file, place, value, rule))

    def refuse_acts(self, fields: dict[str, Any], place: str, acts: set[str]) -> None:
        """Refuse what would change what a node does, and that the lab does not apply."""
        examples = {"sysctls": "sysctl -q -w net.ipv4.ip_forward=1"}
        for name in sorted(acts & fields.keys()):
            self.refuse(f"{place}.{name}", fields[name], BY_LINES.format(examples.get(name, "ip address add ...")))

    def refuse_variables(self, content: dict[str, Any]) -> None:
        """Refuse variables that containerlab would replace before it reads the file, and the lab does not."""
        for place, text, lines in _texts(content):
            for found in VARIABLE.finditer(text):
                name = found[1] or found[2] or found[3]
                if not re.search(rf"\b(?:(?:for|read) {name}\b|{name}=)", lines):
                    self.refuse(place, text, f"without {name}, which containerlab replaces and the lab does not")
                    break

    def templates(self, kinds: Any, place: str) -> None:
        """Refuse what kinds or groups would change in their nodes."""
        for name, fields in (kinds or {}).items() if isinstance(kinds, dict) else ():
            if isinstance(fields, dict):
                self.refuse_acts(fields, f"{place}.{name}", ACTS)

    def node(self, node: Any, place: str) -> Any:
        """Return what the lab needs of a node; an empty one has all by default."""
        if not isinstance(node, dict):
            return {} if node is None else node
        node = {name: value for name, value in node.items() if value is not None}
        self.refuse_acts(node, place, ACTS - {"exec"})
        if isinstance(node.get("labels"), dict):
            node = {**node, "labels": {name: _as_text(value) for name, value in node["labels"].items()}}
        return self.without(node, (NODE_FIELDS - {"labels", "group"}) | ACTS - {"exec"}, place, quiet=ACTS)

    def with_kinds(self, nodes: dict[str, Any], groups: Any) -> dict[str, Any]:
        """Give each node of a group the group's kind."""
        found = {}
        for name, node in nodes.items():
            group = node.get("group") if isinstance(node, dict) else None
            if group and not isinstance(group, str):
                self.refuse(f"topology.nodes.{name}.group", group, "the name of a group")
                group, node = None, {field: value for field, value in node.items() if field != "group"}
            plain = {field: value for field, value in node.items() if field != "group"} if group else node
            fields = groups.get(group) if group and isinstance(groups, dict) else None
            kind = fields.get("kind") if isinstance(fields, dict) else None
            found[name] = {"kind": kind, **plain} if kind else plain
        return found

    def link(self, link: Any, place: str) -> Any:
        """Return a link in its short form."""
        if not isinstance(link, dict):
            return link
        fields = self.without(link, LINK_FIELDS, place)
        for name in sorted(ADDRESSES & fields.keys()):
            self.refuse(f"{place}.{name}", fields.pop(name), BY_LINES.format("ip address add 10.0.1.1/24 dev eth1"))
        kind = fields.pop("type", "veth")
        if kind != "veth":
            self.refuse(f"{place}.type", kind, "veth: a link between two nodes")
            return {"endpoints": ["", ""]}
        if isinstance(fields.get("endpoints"), list):
            fields["endpoints"] = [
                self._end(end, f"{place}.endpoints.{at}") for at, end in enumerate(fields["endpoints"])
            ]
        return fields

    def _end(self, end: Any, place: str) -> Any:
        if not isinstance(end, dict) or not all(isinstance(end.get(name), str) for name in ("node", "interface")):
            return end
        for name in sorted(end.keys() - {"node", "interface"} - END_FIELDS):
            self.refuse(f"{place}.{name}", end[name], BY_LINES.format("ip address add 10.0.1.1/24 dev eth1"))
        self.without(end, END_FIELDS, place)
        return f"{end['node']}:{end['interface']}"
