# SPDX-License-Identifier: GPL-2.0-or-later
"""From an experiment to what a node executes: the plan of one trial, with everything drawn that its seed decides.

A plan is plain JSON (lab/node/plan.py), the same for every kernel and engine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lab.base.errors import COMMAND_LINE, field_error
from lab.links.draw import Link, draw_link
from lab.links.shapes import shapes
from lab.links.tc_alone import NETEM
from lab.node import plan
from lab.node.plan import Module, Plan, Shape, Spec, Sysctls
from lab.runs import flows, requesting, sizes
from lab.runs.experiment import Experiment
from lab.runs.flows import Flow
from lab.runs.idle_path import probed_ways
from lab.schema.cca import Cca
from lab.schema.scenario import Scenario
from lab.schema.sysctls import load_sysctls
from lab.schema.topology import Topology
from lab.senders.traced import PORT, SNAPLEN_BYTES
from lab.senders.ways import own_file, way_of
from lab.tables.exits import EXIT_EVENT
from lab.tables.qdisc import SAMPLE_EVENT
from lab.tables.tcp_headers import ETHERNET_BYTES

HEADERS_BYTES = 52  # of a segment: IP (20), TCP (20) and timestamps (12)
MSS_BYTES = 1448  # with the usual MTU of 1500; a trial's own is mss_bytes() of its experiment
WATCH_MODULE, SAMPLER_MODULE = "tcp_slow_start_watch", "qdisc_sampler"
TC_MODULES = ("sch_netem", "sch_tbf")  # of every kernel
QDISC_MODULES = (*TC_MODULES, "sch_replay", "sch_delay_line")
EVENTS = ("tcp:tcp_probe", "tcp:tcp_retransmit_skb", "tcp:tcp_cong_state_set", EXIT_EVENT)
SEARCH_EVENT = "search:search_bin"
FQ: Spec = {"kind": "fq", "limit_pkts": 10_000, "flow_limit_pkts": 100}  # the kernel's own defaults, stated
# Retransmissions pass TCP's own limit of what it queues locally (TSQ): a flow limit of 100 dropped a burst of them.
PACED: Spec = FQ | {"flow_limit_pkts": 10_000}
FQ_RATIOS = {
    "net.ipv4.tcp_pacing_ss_ratio": "200",  # % of cwnd / srtt in slow start, and after it: the kernel's own, stated
    "net.ipv4.tcp_pacing_ca_ratio": "120",
}
ECN = {"net.ipv4.tcp_ecn": "1"}  # requested and accepted, RFC 3168


@dataclass(frozen=True)
class Draw:
    """What a trial's seed decides, the same for every sender."""

    seed: int
    link: Link


def draw(experiment: Experiment, number: int) -> Draw:
    """Draw trial `number`; UserError where its profile cannot be had."""
    seed = trial_seed(experiment.scenario.seed, number)
    rng = np.random.default_rng(seed)
    frame_bytes = route_mtu_bytes(experiment) + ETHERNET_BYTES
    return Draw(seed, draw_link(experiment.profile, experiment.scenario.duration_s, rng, frame_bytes))


def make_plan(experiment: Experiment, cca: Cca, drawn: Draw) -> Plan:
    """Build the plan of one trial: a sender over a drawn link."""
    of_trial, ccas = experiment.flows(cca), [cca, *experiment.rivals.values()]
    plan = way_of(cca).plan(_of_downloads(experiment, of_trial, ccas, drawn), cca, route_mtu_bytes(experiment))
    if drawn.link.server_start_s:
        plan["server_start_s"] = drawn.link.server_start_s
    if drawn.link.series_begin != "trial":
        plan["series_begin"] = _series_begin(experiment, ccas)
    if experiment.scenario.workload:
        plan = requesting.planned(plan, experiment, drawn.link)
    kernels = sorted({each.kernel for each in ccas if each.kernel})
    if len(kernels) > 1:
        other = next(each.name for each in ccas if each.kernel not in (None, cca.kernel))
        raise field_error(COMMAND_LINE, "rival", other, f"a sender of the same kernel as {cca.name}")
    if kernels:
        plan["kernel"] = kernels[0]
    return plan | {"shaper": "netem"} if experiment.shaper == NETEM else plan


def _series_begin(experiment: Experiment, ccas: list[Cca]) -> Literal["syn", "data"]:
    """Return the event of the download with which the series begin; UserError where the node does not see it."""
    begin = experiment.profile.series_begin
    assert begin != "trial"
    if experiment.shaper == NETEM or experiment.scenario.workload or any(each.transport != "tcp" for each in ccas):
        rule = "trial with --shaper netem, a workload or a sender over QUIC"
        raise field_error(experiment.profile.file, "series_begin", begin, rule)
    return begin


def _of_downloads(experiment: Experiment, of_trial: list[Flow], ccas: list[Cca], drawn: Draw) -> Plan:
    """Build the plan of a trial's downloads by these senders, over TCP on the run's kernel."""
    scenario, topology, link = experiment.scenario, experiment.topology, drawn.link
    planned = flows.planned(scenario, of_trial)
    hosts = dict(host for flow in of_trial for host in (flow.server, flow.client))  # the address of each, once
    sender, receiver = planned[0]["sender"], planned[0]["receiver"]
    shaped = shapes(experiment.profile, link, topology, drawn.seed, experiment.shaper)
    mss = mss_bytes(experiment)
    return {
        "seed": drawn.seed,
        "topology": _graph(topology),
        "ends": list(hosts),
        "addresses": hosts,
        "modules": modules_of(ccas),
        "sysctls": pinned(scenario, ccas),
        "mss_bytes": mss,
        "link": {"base_rtt_ms": link.base_rtt_ms, "rate_mbps": link.mean_rate_mbps, "buffer_bytes": link.buffer_bytes},
        "shapes": shaped,
        "egress": [
            shape
            for node, each in {flow.server[0]: flow.cca for flow in of_trial}.items()
            for shape in egress(scenario, topology, node, each)
        ],
        "start_phase_s": link.start_phase_s,
        "probes": probed_ways(experiment.profile, link, shaped, sender, receiver),
        "capture": {
            "interface": interface_of(topology, receiver),
            "snaplen_bytes": SNAPLEN_BYTES,
            "ring_mb": sizes.ring_mb(link, mss),
        },
        "trace": {
            "events": _events(ccas, max(flow["port"] for flow in planned)),
            "buffer_kb": sizes.trace_kb(link, scenario.duration_s, mss),
        },
        "sampler": {"interface": list(topology.part("bottleneck")), "interval_us": sizes.sample_us(link)},
        "flows": planned,
        "memory_mb": sizes.memory_mb(link, scenario.duration_s, mss, flows=len(planned)),
    }


def trial_seed(scenario_seed: int, number: int) -> int:
    """Return the 32-bit seed of a trial (netem takes 64 bits, Python and the kernel any)."""
    return int(np.random.SeedSequence([scenario_seed, number]).generate_state(1)[0])


def mss_bytes(experiment: Experiment) -> int:
    """Return the bytes of a full segment: what the MTU leaves behind the headers."""
    return route_mtu_bytes(experiment) - HEADERS_BYTES


def route_mtu_bytes(experiment: Experiment) -> int:
    """Return the largest IP packet of the ends' routes."""
    return experiment.scenario.mtu_bytes or experiment.topology.mtu_bytes


def needed_modules(experiment: Experiment) -> list[str]:
    """Return the kernel modules that a machine needs for an experiment's trials."""
    senders = [cca.module for cca in experiment.ccas.values() if cca.module and not cca.module_digest]
    senders += [name for cca in experiment.ccas.values() for name in cca.depends]
    qdiscs = TC_MODULES if experiment.shaper == NETEM else QDISC_MODULES
    return sorted({WATCH_MODULE, SAMPLER_MODULE, *senders, *qdiscs})


def _graph(topology: Topology) -> plan.Topology:
    """Return what an engine needs to bring the nodes up."""
    return {
        "nodes": {name: {"exec": node.exec} for name, node in topology.topology.nodes.items()},
        "links": [{"endpoints": link.endpoints, "mtu": link.mtu} for link in topology.topology.links],
    }


def modules_of(ccas: list[Cca]) -> list[Module]:
    """Return the senders' modules, the one that watches senders without an exit event, and the sampler's."""
    for cca in ccas:
        if cca.module_digest and any((each.module, each.module_digest) == (cca.module, None) for each in ccas):
            rule = f"a module of another name than {cca.module}, which the other sender of a trial has: rename its file"
            raise field_error(COMMAND_LINE, "sender", cca.name, rule)
    own: dict[str, Module] = {module["name"]: module for cca in ccas for module in _sender_modules(cca)}
    watched = ",".join(dict.fromkeys(cca.algorithm for cca in ccas if not cca.reports_exit))
    watch: list[Module] = [{"name": WATCH_MODULE, "params": {"algorithms": watched}}] if watched else []
    return [*own.values(), *watch, {"name": SAMPLER_MODULE, "params": {}}]


def _sender_modules(cca: Cca) -> Iterator[Module]:
    """Return a sender's module, if it has one; one that is not the lab's own is a file of the trial, with its needs."""
    if cca.module is None:
        return
    for name in cca.depends:
        yield {"name": name, "params": {}}
    module: Module = {"name": cca.module, "params": {**cca.params}}
    yield module | {"file": own_file(cca.module)} if cca.module_digest else module


def _events(ccas: list[Cca], last_port: int) -> dict[str, str]:
    of_servers = f"sport == {PORT}" if last_port == PORT else f"sport >= {PORT} && sport <= {last_port}"
    bins = [SEARCH_EVENT] if any(cca.reports_exit and cca.slow_start_exit == "search" for cca in ccas) else []
    return dict.fromkeys(EVENTS, of_servers) | {SAMPLE_EVENT: ""} | dict.fromkeys(bins, of_servers)


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
