# SPDX-License-Identifier: GPL-2.0-or-later
"""What is pinned in the kernel for a trial: its settings, and the qdisc of each sender's own interface."""

from lab.node.plan import Shape, Spec, Sysctls
from lab.schema.cca import Cca
from lab.schema.scenario import Scenario
from lab.schema.sysctls import load_sysctls
from lab.schema.topology import Topology

FQ: Spec = {"kind": "fq", "limit_pkts": 10_000, "flow_limit_pkts": 100}  # the kernel's own defaults, stated
# Retransmissions pass TCP's own limit of what it queues locally (TSQ): a flow limit of 100 dropped a burst of them.
PACED: Spec = FQ | {"flow_limit_pkts": 10_000}
FQ_RATIOS = {
    "net.ipv4.tcp_pacing_ss_ratio": "200",  # % of cwnd / srtt in slow start, and after it: the kernel's own, stated
    "net.ipv4.tcp_pacing_ca_ratio": "120",
}
ECN = {"net.ipv4.tcp_ecn": "1"}  # requested and accepted, RFC 3168


def pinned(scenario: Scenario, ccas: list[Cca]) -> Sysctls:
    """Return every pinned setting.

    An MTU of the scenario's is one of the ends' default routes: the kernel announces the MSS that follows from it
    (RFC 9293, 3.7.1) and sends no larger segment, and every engine pins and reads back a route in the same way.
    """
    usual = load_sysctls().values()
    own = {name: value for cca in ccas for name, value in cca.sysctls.items()}
    mtu = {"mtu": str(scenario.mtu_bytes)} if scenario.mtu_bytes else {}
    return {
        "ends": usual["ends"] | (FQ_RATIOS if scenario.pacing else {}) | (ECN if scenario.ecn_at_ends else {}) | own,
        "kernel": usual["kernel"],
        "route": usual["route"] | mtu | _first_window(ccas),
    }


def _first_window(ccas: list[Cca]) -> dict[str, str]:
    """Return the receiver's first window where a sender states a larger one than the usual, which would bind it."""
    needed_pkts = [cca.first_window_pkts for cca in ccas if cca.first_window_pkts]
    return {"initrwnd": str(max(needed_pkts))} if needed_pkts else {}


def egress(scenario: Scenario, topology: Topology, sender: str, cca: Cca) -> list[Shape]:
    """Return the qdisc of a sender's own interface; none where the kernel's default stays."""
    if not (scenario.pacing or cca.qdisc):
        return []
    node, dev = interface_of(topology, sender)
    return [{"part": "egress", "node": node, "dev": dev, "spec": PACED if scenario.pacing else FQ, "steps": None}]


def interface_of(topology: Topology, node: str) -> list[str]:
    """Return a node and the first of its interfaces."""
    ends = [end.split(":") for link in topology.topology.links for end in link.endpoints]
    return next(end for end in ends if end[0] == node)
