# SPDX-License-Identifier: GPL-2.0-or-later
"""Where packets were dropped: every interface, qdisc and TCP counter, read after the traffic."""

from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.net.namespace import entered
from lab.node.net.netns import interfaces
from lab.node.qdiscs.qdisc_counts import roots
from lab.node.system import small_file

if TYPE_CHECKING:
    from lab.node.plan import Topology
    from lab.node.record import Counters, InterfaceCounts, LinkCounts

HERE = Path("/proc/thread-self/net")  # of the namespace that this thread is in
DEV = ("bytes", "packets", "errs", "drop", "fifo", "frame", "compressed", "multicast")  # net/core/net-procfs.c
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


def read(topology: "Topology", ends: list[str]) -> "Counters":
    """Return per `node:interface` the link's and qdisc's drops, per end the TCP counters that mean a loss."""
    found: dict[str, InterfaceCounts] = {}
    for node in topology["nodes"]:
        with entered(node):
            links = read_links(small_file.read(HERE / "dev"))
            qdiscs = roots()
        for dev in interfaces(topology, node):
            dropped_pkts = qdiscs[dev].dropped_pkts if dev in qdiscs else 0
            found[f"{node}:{dev}"] = {**links[dev], "qdisc_dropped_pkts": dropped_pkts}
    return {"interfaces": found, "tcp": {node: tcp_losses(node) for node in ends}}


def read_links(text: str) -> "dict[str, LinkCounts]":
    """Read /proc/net/dev: what each interface dropped, and sent."""
    lines = [line.split(":", 1) for line in text.splitlines() if ":" in line]
    return {name.strip(): _link(list(map(int, numbers.split()))) for name, numbers in lines}


def _link(numbers: list[int]) -> "LinkCounts":
    received, sent = (dict(zip(DEV, half, strict=True)) for half in (numbers[:8], numbers[8:]))
    return {
        "rx_dropped_pkts": received["drop"] + received["errs"],
        "tx_dropped_pkts": sent["drop"] + sent["errs"],
        "tx_pkts": sent["packets"],
    }


def tcp_losses(node: str) -> dict[str, int]:
    """Read a node's TCP counters that mean a loss, and are not 0."""
    with entered(node):
        values = protocol_counters(small_file.read(HERE / "netstat"))
    return {name: values[name] for name in TCP_LOSSES if values.get(name)}


def sent_again_pkts(node: str) -> int:
    """Read how many segments a node's TCP has retransmitted since its namespace was made."""
    with entered(node):
        return protocol_counters(small_file.read(HERE / "snmp"))["TcpRetransSegs"]


def protocol_counters(text: str) -> dict[str, int]:
    """Read /proc/net/netstat or snmp, where a line of names precedes each one of numbers; returns nstat's names."""
    found: dict[str, int] = {}
    lines = [line.split() for line in text.splitlines()]
    for (kind, *names), (_, *numbers) in zip(lines[::2], lines[1::2], strict=True):
        found |= {kind.removesuffix(":") + name: int(number) for name, number in zip(names, numbers, strict=True)}
    return found
