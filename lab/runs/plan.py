# SPDX-License-Identifier: GPL-2.0-or-later
"""From what was asked to what a node executes: one trial's plan, with everything its seed decides drawn.

A plan is plain JSON: the same for every kernel and engine, stored with the result, and enough to run the trial again.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.links.draw import Link, draw_link
from lab.links.profile import Profile, Way
from lab.links.shapes import shapes
from lab.links.steps import first, peak
from lab.runs.experiment import Experiment
from lab.schema.cca import Cca
from lab.schema.scenario import Scenario
from lab.schema.sysctls import load_sysctls
from lab.schema.topology import Topology
from lab.tables.exits import EXIT_EVENT
from lab.tables.qdisc import SAMPLE_EVENT

PORT = 5201
RIVAL_PORT = 20_002  # of the second download's client, so that its connection is known in the trace
HEADERS_BYTES = 52  # of a segment: IP (20), TCP (20) and timestamps (12)
MSS_BYTES = 1448  # with the usual MTU of 1500; a trial's own is mss_bytes() of its experiment
SNAPLEN_BYTES = 96  # Ethernet (14), IP (20) and the longest TCP header (60)
TRACE_EVENT_BYTES, SAMPLE_BYTES = 160, 64
RING_S, RING_HEADER_BYTES, LEAST_RING_MB = 2.0, 192, 2  # a header with the kernel's own beside it
SAMPLES_PER_RTT = 60
LEAST_SAMPLE_MS, MOST_SAMPLE_MS = 1.0, 10.0
PROBES = 12
PROBE_FRAME_BYTES = 54  # Ethernet (14), IP (20), UDP (8) and 12 of its own (lab/node/probe.py)
WATCH_MODULE, SAMPLER_MODULE = "tcp_slow_start_watch", "qdisc_sampler"
QDISC_MODULES = ("sch_netem", "sch_tbf", "sch_replay", "sch_delay_line")
FQ = {"kind": "fq", "limit_pkts": 10_000, "flow_limit_pkts": 100}  # the kernel's own defaults, stated
# Retransmissions pass TCP's own limit of what it queues locally (TSQ): with 100 a burst of them was dropped right here.
PACED = FQ | {"flow_limit_pkts": 10_000}
FQ_RATIOS = {
    "net.ipv4.tcp_pacing_ss_ratio": "200",  # % of cwnd / srtt in slow start, and after it: the kernel's own, stated
    "net.ipv4.tcp_pacing_ca_ratio": "120",
}

EVENTS = {
    "tcp:tcp_probe": "sport == {port}",
    "tcp:tcp_retransmit_skb": "sport == {port}",
    "tcp:tcp_cong_state_set": "sport == {port}",
    EXIT_EVENT: "sport == {port}",
    SAMPLE_EVENT: "",
}
SEARCH_EVENTS = {"search:search_bin": "sport == {port}"}


@dataclass(frozen=True)
class Draw:
    """What a trial's seed decides, the same for every sender."""

    seed: int
    link: Link


def draw(experiment: Experiment, number: int) -> Draw:
    """Draw trial `number`; UserError where its profile asks for what cannot be had."""
    seed = trial_seed(experiment.scenario.seed, number)
    rng = np.random.default_rng(seed)
    return Draw(seed, draw_link(experiment.profile, experiment.scenario.duration_s, rng))


def make_plan(experiment: Experiment, cca: Cca, drawn: Draw) -> dict[str, Any]:
    """Word a trial of a sender over a drawn link."""
    scenario, profile, topology, link = experiment.scenario, experiment.profile, experiment.topology, drawn.link
    sender, receiver = topology.part("sender"), topology.part("receiver")
    shaped = shapes(profile, link, topology, drawn.seed)
    ccas = [cca, *([experiment.rival] if experiment.rival else [])]
    ends = [sender, receiver, *(topology.rivals if experiment.rival else ())]
    mss = mss_bytes(experiment)
    return {
        "seed": drawn.seed,
        "topology": topology.engine_view(),
        "ends": [node for node, _ in ends],
        "addresses": dict(ends),
        "modules": _modules(ccas),
        "sysctls": _sysctls(scenario, ccas),
        "mss_bytes": mss,
        "link": {
            "base_rtt_ms": link.base_rtt_ms,
            "rate_mbps": link.mean_rate_mbps,
            "buffer_bytes": link.down.buffer_bytes,
        },
        "shapes": shaped,
        "egress": [
            shape
            for (node, _), which in zip(ends[::2], ccas, strict=True)
            for shape in _egress(topology, node, PACED if scenario.pacing else FQ if which.qdisc else None)
        ],
        "start_phase_s": link.start_phase_s,
        "probes": _probes(profile, link, shaped, sender[0], receiver[0]),
        "capture": {
            "interface": _interface_of(topology, receiver[0]),
            "snaplen_bytes": SNAPLEN_BYTES,
            "ring_mb": _ring_mb(link, mss),
        },
        "trace": {"events": _events(ccas), "buffer_kb": _trace_kb(link, scenario.duration_s, mss)},
        "sampler": {"interface": list(topology.part("bottleneck")), "interval_us": sample_us(link)},
        "flows": _flows(scenario, ends, ccas),
        "memory_mb": _memory_mb(link, scenario.duration_s, mss),
    }


def trial_seed(scenario_seed: int, number: int) -> int:
    """Return the 32-bit seed of a trial (netem takes 64 bits, Python and the kernel any)."""
    return int(np.random.SeedSequence([scenario_seed, number]).generate_state(1)[0])


def sample_us(link: Link) -> int:
    """Return how often the bottleneck's qdisc is sampled: some dozens of times an RTT."""
    return round(max(min(link.base_rtt_ms / SAMPLES_PER_RTT, MOST_SAMPLE_MS), LEAST_SAMPLE_MS) * 1e3)


def _flows(scenario: Scenario, ends: list[tuple[str, str]], ccas: list[Cca]) -> list[dict[str, Any]]:
    """Word the download, and the rival's beside it; each from a server of its own."""
    asked: dict[str, Any] = {"port": PORT, "duration_s": scenario.duration_s}
    if scenario.size_bytes:
        asked["size_bytes"] = scenario.size_bytes
    pairs = zip(ends[::2], ends[1::2], ccas, strict=True)
    flows = [{"sender": a[0], "receiver": b[0], "algorithm": cca.algorithm, **asked} for a, b, cca in pairs]
    return [flows[0], *(flow | {"client_port": RIVAL_PORT} for flow in flows[1:])]


def _modules(ccas: list[Cca]) -> list[dict[str, Any]]:
    """Name the senders' modules, the sampler's, and the one that watches senders that do not report their exit."""
    own = {cca.module: {"name": cca.module, "params": cca.params} for cca in ccas if cca.module}
    watched = ",".join(dict.fromkeys(cca.algorithm for cca in ccas if not cca.reports_exit))
    watch = [{"name": WATCH_MODULE, "params": {"algorithms": watched}}] if watched else []
    return [*own.values(), *watch, {"name": SAMPLER_MODULE, "params": {}}]


def needed_modules(experiment: Experiment) -> list[str]:
    """Return the kernel modules that a machine needs for an experiment's trials."""
    senders = [cca.module for cca in experiment.ccas.values() if cca.module]
    return sorted({WATCH_MODULE, SAMPLER_MODULE, *senders, *QDISC_MODULES})


def mss_bytes(experiment: Experiment) -> int:
    """Return the bytes of a full segment: what the MTU leaves behind the headers."""
    return (experiment.scenario.mtu_bytes or experiment.topology.mtu_bytes) - HEADERS_BYTES


def _sysctls(scenario: Scenario, ccas: list[Cca]) -> dict[str, dict[str, str]]:
    """Return every pinned setting.

    An MTU of the scenario's is one of the ends' default routes: the kernel announces the MSS that follows from it
    (RFC 9293, 3.7.1) and sends no larger segment, and every engine pins and reads back a route in the same way.
    """
    pinned = load_sysctls().values()
    own = {name: value for cca in ccas for name, value in cca.sysctls.items()}
    return pinned | {
        "ends": pinned["ends"] | (FQ_RATIOS if scenario.pacing else {}) | own,
        "route": pinned["route"] | ({"mtu": str(scenario.mtu_bytes)} if scenario.mtu_bytes else {}),
    }


def _egress(topology: Topology, node: str, spec: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Build the qdisc of a sender's host; none: the kernel's default."""
    if not spec:
        return []
    host, dev = _interface_of(topology, node)
    return [{"part": "egress", "node": host, "dev": dev, "spec": spec, "steps": None}]


def _probes(
    profile: Profile, link: Link, shaped: list[dict[str, Any]], sender: str, receiver: str
) -> list[dict[str, Any]]:
    """An idle path is measured slowly enough that no probe waits for the frame of the one before.

    The steps of a link begin with the download: before it the first delays hold, and the mean rate.
    """
    carried_ms = {shape["part"]: _carried_ms(shape["spec"]) for shape in shaped}
    interval_ms = max(1.37 * max(_frame_ms(profile.down), _frame_ms(profile.up)), 10.0)
    ways = (
        ("down", sender, receiver, link.down, profile.down, "bottleneck"),
        ("up", receiver, sender, link.up, profile.up, "bottleneck-up"),
    )
    return [
        {
            "way": way,
            "from": start,
            "to": end,
            "count": PROBES,
            "interval_ms": interval_ms,
            "delay_ms": first(drawn.delay_ms) + carried_ms.get(part, 0.0),
            "grant_ms": model.on_demand.frame_ms if model.on_demand else 0.0,
        }
        for way, start, end, drawn, model, part in ways
    ]


def _carried_ms(spec: dict[str, Any]) -> float:
    """Return for how long an idle bottleneck carries a probe: tbf's bucket lets it pass, a `replay` has none."""
    return PROBE_FRAME_BYTES * 8e3 / spec["start_bps"] if spec["kind"] == "replay" else 0.0


def _frame_ms(way: Way) -> float:
    """Return how far apart packets must be lest one wait for another."""
    return max(way.on_demand.frame_ms if way.on_demand else 0.0, way.frames.period_ms if way.frames else 0.0)


def _interface_of(topology: Topology, node: str) -> list[str]:
    ends = [end.split(":") for link in topology.topology.links for end in link.endpoints]
    return next(end for end in ends if end[0] == node)


def _events(ccas: list[Cca]) -> dict[str, str]:
    events = EVENTS | (SEARCH_EVENTS if any(cca.slow_start_exit == "search" for cca in ccas) else {})
    return {name: condition.format(port=PORT) for name, condition in events.items()}


def _trace_kb(link: Link, duration_s: int, mss: int) -> int:
    """Room for an event a segment at full rate, for one a sample, and half as much again."""
    segments = link.mean_rate_mbps * 1e6 / 8 / mss * duration_s
    samples = link.series_s * 1e6 / sample_us(link)
    return math.ceil(1.5 * (segments * TRACE_EVENT_BYTES + samples * SAMPLE_BYTES) / 1024) + 1024


def _peak_mbps(link: Link) -> float:
    return peak(link.down.rate_mbps) if link.down.rate_mbps is not None else link.mean_rate_mbps


def _ring_mb(link: Link, mss: int) -> int:
    """Room for the headers of some seconds, one back for each: dumpcap may be awakened so late. It is all touched."""
    segments = RING_S * _peak_mbps(link) * 1e6 / 8 / mss
    return math.ceil(2 * segments * RING_HEADER_BYTES / 1e6) + LEAST_RING_MB


def _memory_mb(link: Link, duration_s: int, mss: int) -> int:
    """Trace and capture rings, and what is in flight or queued many times over (overshoot, truesize, both ends)."""
    in_flight_bytes = (link.down.buffer_bytes or 0) + _peak_mbps(link) * 1e6 / 8 * longest_rtt_ms(link) / 1e3
    return math.ceil(512 + _trace_kb(link, duration_s, mss) / 1024 + 16 * in_flight_bytes / 1e6)


def longest_rtt_ms(link: Link) -> float:
    """Return the longest round trip without any queue."""
    return peak(link.down.delay_ms) + peak(link.up.delay_ms)
