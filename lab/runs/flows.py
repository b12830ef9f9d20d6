# SPDX-License-Identifier: GPL-2.0-or-later
"""The downloads of a trial: the one under test, then its rivals, each with its hosts, its ports and its time.

Each entry of a scenario's rivals has a pair of hosts of its own as long as the topology has one; then they share.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lab.base.errors import field_error
from lab.node.plan import FlowPlan
from lab.schema.cca import Cca
from lab.schema.scenario import Scenario
from lab.schema.topology import Topology
from lab.senders.traced import PORT, client_port

Host = tuple[str, str]  # a node and its address


@dataclass(frozen=True)
class Flow:
    """One download: its sender, and between which hosts it runs; `start_s`: how much later than the first."""

    cca: Cca
    server: Host
    client: Host
    start_s: float = 0.0


def flows_of(scenario: Scenario, topology: Topology, rivals: Mapping[str, Cca], cca: Cca) -> list[Flow]:
    """Return the downloads of a trial of one sender."""
    first = Flow(cca, topology.part("sender"), topology.part("receiver"))
    pairs = topology.rivals
    others = [
        Flow(rivals[entry.cca], *pairs[number % len(pairs)], entry.start_s)
        for number, entry in enumerate(scenario.beside)
        for _ in range(entry.count)
    ]
    return [first, *others]


def refuse_unlike(flows: list[Flow], scenario: Scenario, file: str) -> None:
    """Raise UserError where one host would have senders that pace by fq, and others that fq would pace, too."""
    paces: dict[Host, str | None] = {}
    for flow in flows if not scenario.pacing else ():
        if paces.setdefault(flow.server, flow.cca.qdisc) != flow.cca.qdisc:
            rule = f"on another host than {flow.server[0]}, whose senders pace otherwise: more pairs, or pacing: fq"
            raise field_error(file, "rivals", flow.cca.name, rule)


def planned(scenario: Scenario, flows: list[Flow]) -> list[FlowPlan]:
    """Return the downloads as a plan has them: each has a server of its own; all end with the scenario's time."""
    on_host = Counter[Host]()
    plans: list[FlowPlan] = []
    for number, flow in enumerate(flows, start=1):
        plan: FlowPlan = {
            "sender": flow.server[0],
            "receiver": flow.client[0],
            "algorithm": flow.cca.algorithm,
            "port": PORT + on_host[flow.server],
            "duration_s": scenario.duration_s,
        }
        on_host[flow.server] += 1
        if scenario.size_bytes:
            plan["size_bytes"] = scenario.size_bytes
        if number > 1:
            plan["client_port"] = client_port(number)
        if flow.start_s:
            plan["start_s"] = flow.start_s
            plan["duration_s"] = scenario.duration_s - flow.start_s
        plans.append(plan)
    return plans
