# SPDX-License-Identifier: GPL-2.0-or-later
"""In the virtual kernel: many specs applied one after the other, each read back; sampled interfaces; single packets."""

import json
import random
import socket
import time
from contextlib import suppress
from typing import Any

from lab.node.measure.sampler import MODULE, PARAMETERS, sampler
from lab.node.net import netns
from lab.node.net.namespace import entered
from lab.node.plan import Topology
from lab.node.qdiscs import qdisc
from lab.node.qdiscs.qdisc_kind import Spec
from lab.node.system import modules
from lab.node.system.tools import NodeError, run

WIRE: Topology = {
    "nodes": {"tbf": {"exec": []}, "netem": {"exec": []}},  # a node for each kind
    "links": [{"endpoints": ["tbf:eth1", "netem:eth1"], "mtu": 1500}],
}

ADDRESS, PORT = "10.0.2.2", 7000
PAIR: Topology = {
    "nodes": {
        "source": {"exec": ["ip address add 10.0.2.1/24 dev eth1"]},
        "sink": {"exec": [f"ip address add {ADDRESS}/24 dev eth1"]},
    },
    "links": [{"endpoints": ["source:eth1", "sink:eth1"], "mtu": 1500}],
}


def refusals(specs: list[Spec]) -> list[str]:
    printed = []
    with netns.namespaces_up(WIRE):
        for spec in specs:
            try:
                qdisc.apply("tbf", "eth1", spec)
            except NodeError as error:
                printed.append(f"{spec}: {error}")
            with suppress(NodeError):  # where none was made
                run("tc", "-n", "tbf", "qdisc", "delete", "dev", "eth1", "root")
    return printed


def unlike_tc(specs: list[Spec]) -> list[str]:
    """Make each by netlink, and then by tc; return where tc shows another qdisc."""
    found = []
    with netns.namespaces_up(WIRE):
        for spec in specs:
            node = spec["kind"]
            show = ["tc", "-n", node, "-j", "qdisc", "show", "dev", "eth1"]
            qdisc.apply(node, "eth1", spec)
            by_netlink = run(*show)
            run("tc", "-n", node, "qdisc", "delete", "dev", "eth1", "root")
            run("tc", "-n", node, *qdisc.command("eth1", spec).split())
            if by_netlink != (by_tc := run(*show)):
                found.append(f"{spec}: {by_netlink} {by_tc}")
    return found


def sampled() -> dict[str, Any]:
    """Sample an interface until its namespace goes, as that of a trial that was killed."""
    modules.load_all([MODULE])
    reported: dict[str, Any] = {}
    with netns.namespaces_up(WIRE):
        try:
            with sampler(("tbf", "eth9"), 1000) as begin:
                begin()
        except NodeError as error:
            reported["refused"] = str(error)
        with entered("tbf"):
            (PARAMETERS / "dev").write_text("eth1")
        reported["while_up"] = _sampled()
    for _ in range(100):
        if not _sampled():
            break
        time.sleep(0.1)
    reported["after_its_end"] = _sampled()
    modules.unload([MODULE])
    return reported | {"loaded": modules.loaded(MODULE)}


def _sampled() -> str:
    return (PARAMETERS / "dev").read_text().strip()


IP_RECVERR = 11  # linux/in.h: a socket with it learns that its own queue dropped a packet
PATIENCE_S = 5


def refused_by_own_queue(spec: Spec, count: int) -> int:
    """Send packets through a qdisc of the sender's own, and return how many of them the sender learned to be lost."""
    with netns.namespaces_up(PAIR):
        source, sink = _connected()
        _cross(source, sink)  # the neighbours know each other
        qdisc.apply("source", "eth1", spec)
        source.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        return sum(_fails(source) for _ in range(count))


def pkts_that_waited(spec: Spec, count: int) -> int:
    """Send packets through a qdisc of the sender's own, one at a time, and return how many of them it held back.

    In virtual time each look at the clock takes 256 ns: packets arrive at every eighth nanosecond of a microsecond.
    """
    looks = random.Random(1)  # noqa: S311
    with netns.namespaces_up(PAIR):
        source, sink = _connected()
        _cross(source, sink)
        qdisc.apply("source", "eth1", spec)
        for _ in range(count):
            time.sleep(0.001)
            for _ in range(looks.randrange(125)):
                time.monotonic_ns()
            source.send(b"x")
        time.sleep(0.1)
        (shown,) = json.loads(run("tc", "-n", "source", "-s", "-j", "qdisc", "show", "dev", "eth1"))
        held: int = shown["overlimits"]
        return held


def _connected() -> tuple[socket.socket, socket.socket]:
    with entered("sink"):
        sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sink.bind(("", PORT))
        sink.settimeout(PATIENCE_S)
    with entered("source"):
        source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        source.connect((ADDRESS, PORT))
    return source, sink


def _cross(source: socket.socket, sink: socket.socket) -> float:
    begun_s = time.monotonic()
    source.send(b"x")
    sink.recv(1)
    return time.monotonic() - begun_s


def _fails(source: socket.socket) -> bool:
    try:
        source.send(b"x")
    except OSError:
        return True
    return False
