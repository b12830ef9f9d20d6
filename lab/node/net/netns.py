# SPDX-License-Identifier: GPL-2.0-or-later
"""Engine `netns`: every node of a topology is a plain network namespace.

Under User Mode Linux a process costs milliseconds: what few system calls do needs none, the rest goes to ip in a batch.
"""

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import dropwhile, groupby, takewhile
from typing import TYPE_CHECKING

from lab.node.net import interface, namespace, route, sysctl, wires
from lab.node.net.namespace import entered
from lab.node.net.netlink import Netlink
from lab.node.system.tools import NodeError, run

if TYPE_CHECKING:
    from lab.node.plan import Topology

PLAIN = (re.compile(r"ip [\w ./:]+"), re.compile(r"sysctl -q -w [\w.]+=\w+"))  # lines that need no shell
OWN_SETTING = re.compile(r"sysctl -q -w net\.[\w.]+=\w+")
PAIR: "Topology" = {  # of flows that are no trial
    "nodes": {
        "sender": {"exec": ["ip addr add 10.0.0.1/24 dev eth1"]},
        "receiver": {"exec": ["ip addr add 10.0.0.2/24 dev eth1"]},
    },
    "links": [{"endpoints": ["sender:eth1", "receiver:eth1"], "mtu": 1500}],
}


@contextmanager
def nodes_up(topology: "Topology") -> Iterator[None]:
    """Bring the nodes and links of a topology up, and take them down whatever happens.

    The topology is a containerlab file's `topology:`, read as a dict: nodes with their `exec` lines, links with
    endpoints `node:interface` and an mtu.
    """
    with namespaces_up(topology):
        ready(topology)
        yield


@contextmanager
def pair_up(down: str, up: str) -> Iterator[None]:
    """Bring PAIR up, with a qdisc of tc at each end: what the sender sends passes `down`."""
    with nodes_up(PAIR):
        for node, options in (("sender", down), ("receiver", up)):
            run("tc", "-n", node, "qdisc", "add", "dev", "eth1", "root", *options.split())
        yield


@contextmanager
def namespaces_up(topology: "Topology") -> Iterator[None]:
    """Build the nodes, wires and addresses."""
    try:
        for name in topology["nodes"]:
            namespace.make(name)
        wires.connect(topology["links"])
        left = {name: _set_first(name, node["exec"]) for name, node in topology["nodes"].items()}
        for name, commands in left.items():
            with entered(name):
                _configure(["lo", *interfaces(topology, name)], commands)
        yield
    finally:
        unname(topology["nodes"])


def unname(nodes: Iterable[str]) -> None:
    """Take the names of namespaces away, and with them every namespace that nothing else holds."""
    existing = namespace.named()
    for name in nodes:
        if name in existing:
            namespace.unname(name)


def ready(topology: "Topology") -> None:
    """Prepare nodes that are up for a trial, whatever engine built them.

    Offloads are off: a super-packet would be one decision of a queue for 64 kB. ARP entries are permanent: ARP would
    cross the delay, and lose the packets that wait for it.
    """
    known: dict[wires.End, tuple[str, bytes]] = {}
    for name in topology["nodes"]:
        with entered(name):
            for dev in interfaces(topology, name):
                for offload in interface.switch_offloads_off(dev):
                    raise NodeError(f"{name}:{dev}: {offload}=on: must be off on every interface")
                known[name, dev] = _address(name, dev), interface.hardware(dev)
    for name in topology["nodes"]:
        with entered(name):
            for (node, dev), peer in _directions(topology):
                if node == name:
                    interface.pin_neighbour(dev, *known[peer])


def keep_order(topology: "Topology") -> None:
    """Let one processor receive everything (RPS): packets that two of them pass on may overtake each other."""
    for name in topology["nodes"]:
        for dev in interfaces(topology, name):
            where = f"/sys/class/net/{dev}/queues/rx-0/rps_cpus"  # of the node, as `ip netns exec` mounts it
            run("ip", "netns", "exec", name, "sh", "-e", "-c", f"[ ! -e {where} ] || echo 1 >{where}")


def changes_only_its_node(line: str) -> bool:
    """Return whether a node's line can change nothing but addresses, routes and settings of its own network."""
    return route.is_known(line) or bool(OWN_SETTING.fullmatch(line))


def interfaces(topology: "Topology", name: str) -> list[str]:
    """Name the interfaces of a node."""
    return [dev for (node, dev), _ in _directions(topology) if node == name]


def _directions(topology: "Topology") -> Iterator[tuple[wires.End, wires.End]]:
    """Return each end of each link, and its peer."""
    for near, far in map(wires.ends, topology["links"]):
        yield from ((near, far), (far, near))


def _set_first(name: str, commands: list[str]) -> list[str]:
    """Write the settings that a node's commands begin with, and return the others.

    No device is up yet: while the kernel follows one that has come up, it refuses net.ipv4.ip_forward, and a program
    tries again for a millisecond.
    """
    first = list(takewhile(lambda line: _tool(line) == "sysctl", commands))
    if first:
        with entered(name):
            _set_all(first)
    return commands[len(first) :]


def _set_all(lines: Iterable[str]) -> None:
    for line in lines:
        sysctl.write(*line.split()[-1].split("="))


def _configure(devices: list[str], commands: list[str]) -> None:
    """Set the devices of the node that this thread is in up, and execute the node's commands in their order."""
    with Netlink("interfaces") as link:
        for dev in devices:
            route.bring_up(link, dev)
        for tool, lines in groupby(commands, key=_tool):
            if tool == "ip":
                if left := [line.removeprefix("ip ") for line in dropwhile(partial(route.executed, link), lines)]:
                    run("ip", "-batch", "-", stdin="\n".join([*left, ""]))
            elif tool == "sysctl":
                _set_all(lines)
            else:
                run("sh", "-e", "-c", "\n".join(lines))


def _tool(line: str) -> str:
    """Name the tool of a line that needs no shell."""
    return line.split()[0] if any(plain.fullmatch(line) for plain in PLAIN) else "sh"


def _address(node: str, dev: str) -> str:
    try:
        return interface.address(dev)
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL:
            raise
        raise NodeError(f"{node}:{dev}: must have an IPv4 address, which an exec line of {node} adds") from None
