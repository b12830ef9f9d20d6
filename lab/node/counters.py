# SPDX-License-Identifier: GPL-2.0-or-later
"""Where packets were dropped: every interface, qdisc and TCP counter, read after the traffic."""

from typing import Any

from lab.node.netns import interfaces
from lab.node.tools import inside, run, run_json

TCP_LOSSES = (
    "TcpExtTCPBacklogDrop",
    "TcpExtTCPRcvQDrop",
    "TcpExtTCPOFODrop",
    "TcpExtPruneCalled",
    "TcpExtRcvPruned",
    "TcpExtOfoPruned",
    "TcpExtTCPZeroWindowDrop",
    "TcpExtTCPMemoryPressures",
)


def read(topology: dict[str, Any], ends: list[str]) -> dict[str, Any]:
    """Return per `node:interface` the link's and qdisc's drops, per end the TCP counters that mean a loss."""
    found: dict[str, dict[str, int]] = {}
    for node in topology["nodes"]:
        links = {link["ifname"]: link["stats64"] for link in run_json("ip", "-n", node, "-s", "-j", "link", "show")}
        qdiscs = run_json("tc", "-n", node, "-s", "-j", "qdisc", "show")
        for dev in interfaces(topology, node):
            dropped = sum(qdisc.get("drops", 0) for qdisc in qdiscs if qdisc["dev"] == dev and qdisc.get("root"))
            found[f"{node}:{dev}"] = _interface(links[dev], dropped)
    return {"interfaces": found, "tcp": {node: _tcp(node) for node in ends}}


def _interface(link: dict[str, dict[str, int]], qdisc_dropped: int) -> dict[str, int]:
    return {
        "rx_dropped_pkts": link["rx"]["dropped"] + link["rx"]["errors"],
        "tx_dropped_pkts": link["tx"]["dropped"] + link["tx"]["errors"],
        "qdisc_dropped_pkts": qdisc_dropped,
        "tx_pkts": link["tx"]["packets"],
    }


def _tcp(node: str) -> dict[str, int]:
    lines = run(*inside(node, "nstat", "-asz", *TCP_LOSSES)).splitlines()
    values = {words[0]: int(words[1]) for words in map(str.split, lines) if len(words) == 3}
    return {name: values[name] for name in TCP_LOSSES if values.get(name)}
