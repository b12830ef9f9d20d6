# SPDX-License-Identifier: GPL-2.0-or-later
"""What the node does by system calls, and what the tools show of it."""

from typing import Any

from lab.node.net import namespace, netns, route
from lab.node.net.namespace import entered
from lab.node.qdiscs import qdisc_counts
from lab.node.system import modules
from lab.node.system.tools import run, run_json

PACKETS = 30
LINES = [
    "ip address add 10.0.1.1/24 dev eth1",
    "ip route add 10.0.2.0/24 via 10.0.1.2",
    "ip route add default via 10.0.1.2",
]
METRICS = {"initcwnd": "10", "initrwnd": "44", "mtu": "1360"}
TOPOLOGY: Any = {
    "nodes": {"here": {"exec": LINES}, "there": {"exec": ["ip address add 10.0.1.2/24 dev eth1"]}},
    "links": [{"endpoints": ["here:eth1", "there:eth1"], "mtu": 1500}],
}


def routed() -> dict[str, Any]:
    """Return what ip shows of addresses and routes."""
    with netns.nodes_up(TOPOLOGY):
        route.pin("here", METRICS)
        addresses = run_json("ip", "-n", "here", "-j", "address", "show", "dev", "eth1")
        routes = run_json("ip", "-n", "here", "-j", "-d", "route", "show")
    return {"addresses": addresses[0]["addr_info"], "routes": routes, "left": namespace.named()}


def counted() -> dict[str, Any]:
    """Drop packets at a queue of three, and return its counters by both ways."""
    with netns.nodes_up(TOPOLOGY):
        run(
            "tc",
            "-n",
            "here",
            "qdisc",
            "replace",
            "dev",
            "eth1",
            "root",
            "tbf",
            *"rate 8kbit burst 1600 limit 3000".split(),
        )
        run("sh", "-c", f"ip netns exec here ping -q -c {PACKETS} -i 0.01 -s 1000 -W 1 10.0.1.2 || true")
        with entered("here"):
            (shown,) = [
                each
                for each in run_json("tc", "-s", "-j", "qdisc", "show")
                if each["dev"] == "eth1" and each.get("root")
            ]
            return {"tc": [shown["packets"], shown["qlen"], shown["drops"]], "netlink": qdisc_counts.roots()["eth1"]}


def refused(line: str) -> None:
    """Bring up a node whose line no kernel takes."""
    nodes = {**TOPOLOGY["nodes"], "there": {"exec": [line]}}
    with netns.nodes_up(TOPOLOGY | {"nodes": nodes}):
        pass


def loaded(name: str, params: dict[str, str]) -> dict[str, Any]:
    modules.load(name, params)
    return {"loaded": [name for name in ("tcp_search_core", "tcp_search") if modules.loaded(name)]}
