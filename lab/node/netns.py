# SPDX-License-Identifier: GPL-2.0-or-later
"""Engine `netns`: every node of a topology is a plain network namespace.

Commands go to the tools in batches: under User Mode Linux a process costs milliseconds, a line of a batch does not.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from lab.node.tools import NodeError, inside, run, run_json

OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}
Topology = dict[str, Any]


@contextmanager
def nodes_up(topology: Topology) -> Iterator[None]:
    """Bring the nodes and links of a topology up, and take them down whatever happens.

    The topology is a containerlab file's `topology:`, read as a dict: nodes with their `exec` lines, links with
    endpoints `node:interface` and an mtu.
    """
    with namespaces_up(topology):
        ready(topology)
        yield


@contextmanager
def namespaces_up(topology: Topology) -> Iterator[None]:
    """Build the nodes, wires and addresses."""
    try:
        run("ip", "-batch", "-", stdin="\n".join([*_namespaces(topology), *_wires(topology)]))
        for name, node in topology["nodes"].items():
            devices = [f"ip link set dev {dev} up" for dev in ("lo", *interfaces(topology, name))]
            run(*inside(name, "sh", "-e", "-c", "\n".join(devices + node["exec"])))
        yield
    finally:
        unname(topology["nodes"])


def unname(nodes: Iterable[str]) -> None:
    """Take the names of namespaces away, and with them every namespace that nothing else holds."""
    existing = run("ip", "netns", "list").split()
    run("ip", "-batch", "-", stdin="\n".join(f"netns delete {name}" for name in nodes if name in existing))


def ready(topology: Topology) -> None:
    """Make nodes that are up, whoever built them, such that a trial can trust them."""
    for name in topology["nodes"]:
        _switch_offloads_off(name, interfaces(topology, name))
    _pin_neighbours(topology)


def endpoints(link: dict[str, Any]) -> list[tuple[str, str]]:
    """Split the two `node:interface` ends of a link."""
    return [(node, dev) for node, dev in (end.split(":") for end in link["endpoints"])]


def interfaces(topology: Topology, name: str) -> list[str]:
    """Name the interfaces of a node."""
    return [dev for link in topology["links"] for node, dev in endpoints(link) if node == name]


def _namespaces(topology: Topology) -> list[str]:
    return [f"netns add {name}" for name in topology["nodes"]]


def _wires(topology: Topology) -> list[str]:
    lines = []
    for link in topology["links"]:
        (node_a, dev_a), (node_b, dev_b) = endpoints(link)
        mtu = link["mtu"]
        lines.append(
            f"link add dev {dev_a} mtu {mtu} netns {node_a} type veth peer name {dev_b} mtu {mtu} netns {node_b}"
        )
    return lines


def _switch_offloads_off(name: str, devices: list[str]) -> None:
    """A super-packet would be one decision of a queue for 64 kB."""
    offloads = " ".join(f"{short} off" for short in OFFLOADS)
    lines = [line for dev in devices for line in (f"ethtool -K {dev} {offloads}", f"ethtool -k {dev}")]
    shown = run(*inside(name, "sh", "-e", "-c", "\n".join(lines)))
    for feature in OFFLOADS.values():
        if shown.count(f"\n{feature}: off") != len(devices):
            raise NodeError(f"{name}: {feature}=on: must be off on every interface")


def _pin_neighbours(topology: Topology) -> None:
    """ARP would cross the delay, and lose what waits for it."""
    shown = {
        (name, link["ifname"]): link
        for name in topology["nodes"]
        for link in run_json("ip", "-n", name, "-j", "address", "show")
    }
    lines: dict[str, list[str]] = {name: [] for name in topology["nodes"]}
    for link in topology["links"]:
        near, far = endpoints(link)
        for (node, dev), peer in ((near, shown[far]), (far, shown[near])):
            address = next(a["local"] for a in peer["addr_info"] if a["family"] == "inet")
            lines[node].append(f"neighbour replace {address} lladdr {peer['address']} dev {dev} nud permanent")
    for node, batch in lines.items():
        run("ip", "-n", node, "-batch", "-", stdin="\n".join(batch))
