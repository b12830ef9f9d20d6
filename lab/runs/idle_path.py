# SPDX-License-Identifier: GPL-2.0-or-later
"""How the idle path is probed before the download, and the one-way delay that it should have then.

Probes are far enough apart that none waits for the one before, or for its frame. The series of a link begin with the
download: before it, the first delays and the mean rate hold.
"""

from typing import Literal

from lab.links.draw import DrawnWay, Link
from lab.links.profile import Profile, Way
from lab.links.steps import first
from lab.node.plan import ProbedWay, Shape

PROBES = 12
PROBE_FRAME_BYTES = 54  # Ethernet (14), IP (20), UDP (8) and 12 of its own (lab/node/measure/probe.py)
LEAST_INTERVAL_MS, FRAMES_APART = 10.0, 1.37


def probed_ways(profile: Profile, link: Link, shapes: list[Shape], sender: str, receiver: str) -> list[ProbedWay]:
    """Return both ways of the idle path, from the server to the client and back."""
    replayed = [shape for shape in shapes if shape["spec"]["kind"] == "replay"]  # tbf lets a probe pass, by its bucket
    carried_ms: dict[str, float] = {
        shape["part"]: PROBE_FRAME_BYTES * 8e3 / shape["spec"]["start_bps"] for shape in replayed
    }
    busy_ms = [_frame_ms(profile.down), _frame_ms(profile.up), *carried_ms.values()]
    interval_ms = max(FRAMES_APART * max(busy_ms), LEAST_INTERVAL_MS)

    ways: tuple[tuple[Literal["down", "up"], str, str, Way, DrawnWay, str], ...] = (
        ("down", sender, receiver, profile.down, link.down, "bottleneck"),
        ("up", receiver, sender, profile.up, link.up, "bottleneck-up"),
    )
    return [
        {
            "way": name,
            "from": source,
            "to": target,
            "count": PROBES,
            "interval_ms": interval_ms,
            "delay_ms": first(drawn.delay_ms) + carried_ms.get(bottleneck, 0.0),
            "grant_ms": _grant_ms(way, drawn),
        }
        for name, source, target, way, drawn, bottleneck in ways
    ]


def _grant_ms(way: Way, drawn: DrawnWay) -> float:
    """Return the longest wait for a grant of capacity: where none is guaranteed, first for its request.

    A rate is reported at the end of a period, and grants a packet's bytes over the next one.
    """
    if not (way.on_demand and drawn.on_demand):
        return 0.0
    if drawn.on_demand.guaranteed_pkts:
        return way.on_demand.frame_ms
    return 2 * way.on_demand.frame_ms + drawn.on_demand.request_delay_ms + 2 * (way.on_demand.period_ms or 0)


def _frame_ms(way: Way) -> float:
    """Return the time that one frame of the link may make a packet wait."""
    return max(way.on_demand.frame_ms if way.on_demand else 0.0, way.frames.period_ms if way.frames else 0.0)
