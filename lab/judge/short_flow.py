# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge a connection with a workload: whether its exit was early in truth, and when each object was whole.

An exit is early where two truths agree. The bottleneck's queue had not stayed filled yet (the class by the rule
`truth`), and the window at the exit was below the bandwidth-delay product: the link's mean rate of the trial times its
base RTT. The queue alone does not suffice here: an application with little to send never fills it, whatever its window.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.judge.classify import ExitClass
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import ObjectJson, TrialJson, WorkloadJson


@dataclass(frozen=True)
class ShortFlow:
    """One trial; a time is null where the object or group was not whole."""

    cca: str
    trial: int
    left: bool  # whether it left slow start
    early: bool
    limited: bool | None  # whether the application limited the sender at the exit; null without an exit
    window_pct: float | None  # window at the exit, of the bandwidth-delay product; null where not known
    threshold_pct: float | None  # slow start threshold after it, of the same: how far a later slow start goes
    objects_s: tuple[float | None, ...]  # from its request to its last byte
    groups_s: tuple[float | None, ...]  # from the first request of the group to its last byte
    stalled_s: float


def short_flow(trial: Trial, exit_class: str | None) -> ShortFlow:
    """Judge one trial of a workload; `exit_class` is its class by the true queue."""
    meta, left = trial.meta, first_exit(trial.exits, FLOW)
    found, pkts_pct = meta["workload"], 100 * meta["mss_bytes"] / bdp_bytes(meta)
    window_pct = None if left is None or left.cwnd_pkts is None else left.cwnd_pkts * pkts_pct
    threshold_pkts = next(iter(trial.exits.filter(flow=FLOW)["ssthresh_pkts"]), None)
    return ShortFlow(
        trial.cca,
        trial.number,
        left is not None,
        exit_class == ExitClass.EARLY and window_pct is not None and window_pct < 100,
        None if left is None else _limited(found, left),
        window_pct,
        None if threshold_pkts is None else threshold_pkts * pkts_pct,
        tuple(_took_s([each]) for each in found["objects"]),
        groups_s(found["objects"]),
        found["stalled_s"],
    )


def bdp_bytes(meta: TrialJson) -> float:
    """Return the bandwidth-delay product of a trial's link."""
    return meta["rate_mbps"] * 1e6 / 8 * meta["base_rtt_ms"] / 1e3


def groups_s(objects: Sequence[ObjectJson]) -> tuple[float | None, ...]:
    """Return how long each page, chunk or call took, in their order."""
    members: dict[int, list[ObjectJson]] = {}
    for each in objects:
        members.setdefault(each["group"], []).append(each)
    return tuple(_took_s(group) for group in members.values())


def _took_s(objects: Sequence[ObjectJson]) -> float | None:
    begun, whole = objects[0]["requested_s"], objects[-1]["whole_s"]
    return None if begun is None or whole is None else whole - begun


def _limited(found: WorkloadJson, left: SlowStartExit) -> bool | None:
    """Return the state of the last sample before the exit; null where there is none."""
    before = [limited for at_s, limited in found["limited"] if at_s <= left.t_s]
    return bool(before[-1]) if before else None
