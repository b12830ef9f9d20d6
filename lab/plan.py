# SPDX-License-Identifier: GPL-2.0-or-later
"""From what was asked to what a node executes: one trial's plan, with everything its seed decides drawn.

A plan is plain JSON: the same for every kernel and engine, stored with the result, and enough to run the trial again.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.schema.cca import Cca
from lab.schema.profile import Frames, Noise, Profile
from lab.schema.scenario import Scenario
from lab.schema.sysctls import load_sysctls
from lab.schema.topology import Topology
from lab.tables.exits import EXIT_EVENT

PORT = 5201
MSS_BYTES = 1448  # MTU 1500 less IP (20), TCP (20) and timestamps (12)
SNAPLEN_BYTES = 96  # Ethernet (14), IP (20) and the longest TCP header (60)
ORDER_BPS = 10e9  # netem keeps packets in order only with a rate; this one delays a frame by 1.2 us
DELAY_LINE_PKTS = 1_000_000  # a limit that is never reached: the buffer is the bottleneck's
TRACE_EVENT_BYTES = 160
SAMPLES_PER_RTT = 60
LEAST_SAMPLE_MS, MOST_SAMPLE_MS = 1.0, 10.0
PROBES = 12

EVENTS = {
    "tcp:tcp_probe": "sport == {port}",
    "tcp:tcp_retransmit_skb": "sport == {port}",
    "tcp:tcp_cong_state_set": "sport == {port}",
}
EXIT_EVENTS = {EXIT_EVENT: "sport == {port}"}
SEARCH_EVENTS = {"search:search_bin": "sport == {port}"}


@dataclass(frozen=True)
class Experiment:
    """A scenario with all that it names."""

    name: str
    scenario: Scenario
    profile: Profile
    topology: Topology
    ccas: dict[str, Cca]


def make_plan(experiment: Experiment, cca: Cca, number: int) -> dict[str, Any]:
    """Draw trial `number` of a sender; the same number is the same link for every sender."""
    scenario, profile, topology = experiment.scenario, experiment.profile, experiment.topology
    seed = trial_seed(scenario.seed, number)
    rng = np.random.default_rng(seed)
    sender, receiver = topology.part("sender"), topology.part("receiver")
    start_phase_s = float(rng.uniform(0, profile.noise.start_phase_ms)) / 1e3
    up, changes = _up(profile, seed, rng)
    shapes = [
        _shape(topology, "bottleneck", _bottleneck(profile)),
        _shape(topology, "delay-down", _delay(profile.down.delay_ms, profile.down.loss_pct, seed)),
        _shape(topology, "delay-up", up),
    ]
    return {
        "seed": seed,
        "topology": topology.engine_view(),
        "ends": [sender[0], receiver[0]],
        "addresses": dict((sender, receiver)),
        "modules": [{"name": cca.module, "params": cca.params}] if cca.module else [],
        "sysctls": load_sysctls().values(),
        "shapes": shapes,
        "changes": [_shape(topology, "delay-up", None) | {"steps": changes}] if changes else [],
        "start_phase_s": start_phase_s,
        "probes": _probes(profile, sender[0], receiver[0]),
        "capture": {"interface": _interface_of(topology, receiver[0]), "snaplen_bytes": SNAPLEN_BYTES},
        "trace": {"events": _events(cca), "buffer_kb": _trace_kb(profile, scenario.duration_s)},
        "sampler": {"interface": list(topology.part("bottleneck")), "interval_us": sample_us(profile)},
        "flows": [
            {
                "sender": sender[0],
                "receiver": receiver[0],
                "port": PORT,
                "algorithm": cca.algorithm,
                "duration_s": scenario.duration_s,
            }
        ],
        "memory_mb": _memory_mb(profile, scenario.duration_s),
    }


def trial_seed(scenario_seed: int, number: int) -> int:
    """Return the 32-bit seed of a trial (netem takes 64 bits, Python and the kernel any)."""
    return int(np.random.SeedSequence([scenario_seed, number]).generate_state(1)[0])


def sample_us(profile: Profile) -> int:
    """Return how often the bottleneck's qdisc is sampled: some dozens of times an RTT."""
    return round(max(min(profile.base_rtt_ms / SAMPLES_PER_RTT, MOST_SAMPLE_MS), LEAST_SAMPLE_MS) * 1e3)


def _shape(topology: Topology, part: str, spec: dict[str, Any] | None) -> dict[str, Any]:
    node, dev = topology.part(part)
    return {"part": part, "node": node, "dev": dev} | ({"spec": spec} if spec else {})


def _bottleneck(profile: Profile) -> dict[str, Any]:
    # one full frame of burst: a larger one would let an idle link exceed its rate
    return {
        "kind": "tbf",
        "rate_bps": profile.down.rate_mbps * 1e6,
        "burst_bytes": 1600,
        "limit_bytes": profile.down.buffer_bytes,
    }


def _delay(delay_ms: float, loss_pct: float, seed: int, slot_ms: float = 0, slot_pkts: int = 0) -> dict[str, Any]:
    return {
        "kind": "netem",
        "limit_pkts": DELAY_LINE_PKTS,
        "delay_us": round(delay_ms * 1e3),
        "loss_pct": loss_pct,
        "rate_bps": ORDER_BPS,
        "slot_us": round(slot_ms * 1e3),
        "slot_pkts": slot_pkts,
        "seed": seed,
    }


def _up(profile: Profile, seed: int, rng: np.random.Generator) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the return link's state before the flow, and its changes after."""
    up = profile.up
    if not up.frames:
        return _delay(up.delay_ms, up.loss_pct, seed), []
    specs = [
        (at_s, _delay(up.delay_ms, up.loss_pct, seed, up.frames.period_ms, packets))
        for at_s, packets in draw_grants(up.frames, profile.noise, rng)
    ]
    return specs[0][1], [{"at_s": at_s, "spec": spec} for at_s, spec in specs[1:]]


def draw_grants(frames: Frames, noise: Noise, rng: np.random.Generator) -> list[tuple[float, int]]:
    """Vary a schedule of grants: times by a common factor (whole frames, so that frames stay in step), sizes each."""
    pace = math.exp(rng.normal(0, noise.grant_time_sd_pct / 100))
    period_s = frames.period_ms / 1e3
    drawn = {}
    for grant in frames.grants:
        size = grant.packets * math.exp(rng.normal(0, noise.grant_packets_sd_pct / 100))
        drawn[round(grant.from_s * pace / period_s) * period_s] = max(round(size), 1)
    return sorted(drawn.items())


def _probes(profile: Profile, sender: str, receiver: str) -> list[dict[str, Any]]:
    """An idle path is measured slowly enough that a frame of one packet never holds two."""
    period_ms = profile.up.frames.period_ms if profile.up.frames else 0.0
    interval_ms = max(1.37 * period_ms, 10.0)
    ways = (
        (sender, receiver, "down", profile.down.delay_ms, 0.0),
        (receiver, sender, "up", profile.up.delay_ms, period_ms),
    )
    return [
        {
            "way": way,
            "from": start,
            "to": end,
            "count": PROBES,
            "interval_ms": interval_ms,
            "delay_ms": delay_ms,
            "frame_ms": frame_ms,
        }
        for start, end, way, delay_ms, frame_ms in ways
    ]


def _interface_of(topology: Topology, node: str) -> list[str]:
    ends = [end.split(":") for link in topology.topology.links for end in link.endpoints]
    return next(end for end in ends if end[0] == node)


def _events(cca: Cca) -> dict[str, str]:
    events = EVENTS | (EXIT_EVENTS if cca.tells_exit else {})
    events |= SEARCH_EVENTS if cca.slow_start_exit == "search" else {}
    return {name: condition.format(port=PORT) for name, condition in events.items()}


def _trace_kb(profile: Profile, duration_s: int) -> int:
    """Room for an event a segment at full rate, and half as much again."""
    segments = profile.down.rate_mbps * 1e6 / 8 / MSS_BYTES * duration_s
    return math.ceil(1.5 * segments * TRACE_EVENT_BYTES / 1024) + 1024


def _memory_mb(profile: Profile, duration_s: int) -> int:
    """Trace and capture rings, and what is in flight or queued many times over (overshoot, truesize, both ends)."""
    in_flight_bytes = profile.down.buffer_bytes + profile.down.rate_mbps * 1e6 / 8 * profile.base_rtt_ms / 1e3
    return math.ceil(512 + _trace_kb(profile, duration_s) / 1024 + 16 * in_flight_bytes / 1e6)
