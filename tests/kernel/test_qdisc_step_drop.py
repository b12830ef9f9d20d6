# SPDX-License-Identifier: GPL-2.0-or-later
"""The gateway's queue drops the stated share of arrivals above its threshold, and nothing below it."""

import numpy as np
import pytest

from tests.conftest import Bench
from tests.link_bench import Arrivals, Spec, cross

GATEWAY: Spec = {  # thesis 5.1.1
    "kind": "step_drop",
    "limit_bytes": 36_000_000,
    "threshold_bytes": 18_000_000,
    "drop_pct": 25.0,
    "seed": 11,
}
SHARE_TOLERANCE_PCT = 0.25  # 1 % of 25 %
SMALLEST_BYTES, FULL_BYTES = 60, 1514
MASK = 2**64 - 1


def fill(bench: Bench, name: str, child: Spec, count: int, size: int) -> Arrivals:
    """Send packets into a queue behind a link that is stalled, so that all that is not dropped stays."""
    stalled = {"kind": "replay", "mode": "rate", "limit_bytes": 1, "overhead_bytes": 0, "start_bps": 0, "child": child}
    packets = np.column_stack([np.arange(count) * 10_000, np.full(count, size)]).astype(np.uint64)
    return cross(bench, f"step-drop-{name}", stalled, packets, count * 1e-5 + 0.2)


def counted(link: Arrivals) -> dict[str, int]:
    counts: dict[str, int] = link.record["statistics"]["step_drop"]
    return counts


def chosen(seed: int, count: int, share: float) -> int:
    """Count how many of so many draws of SplitMix64 lie below a share."""
    found = 0
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        found += ((z ^ (z >> 31)) >> 32) < share * 2**32
    return found


def test_the_share_that_is_dropped_is_the_stated_one(bench: Bench) -> None:
    link = fill(bench, "share", GATEWAY | {"threshold_bytes": 0}, 160_000, SMALLEST_BYTES)
    counts = counted(link)
    assert counts["exposed_pkts"] == 160_000 - 1  # all but the one that found the queue empty
    share_pct = 100 * counts["chosen_pkts"] / counts["exposed_pkts"]
    assert share_pct == pytest.approx(25, abs=SHARE_TOLERANCE_PCT)
    assert counts["chosen_pkts"] == chosen(GATEWAY["seed"], counts["exposed_pkts"], 0.25)
    assert counts["overflow_pkts"] == 0


def test_the_gateway_of_the_thesis_drops_above_half_and_at_its_limit(bench: Bench) -> None:
    count = 30_000
    link = fill(bench, "gateway", GATEWAY, count, FULL_BYTES)
    counts = counted(link)
    below, room = 18_000_000 // FULL_BYTES + 1, 36_000_000 // FULL_BYTES
    assert counts["exposed_pkts"] == count - below - counts["overflow_pkts"]
    assert link.record["shown"][0]["qlen"] == room
    assert room == count - counts["chosen_pkts"] - counts["overflow_pkts"]
    assert counts["chosen_pkts"] / counts["exposed_pkts"] == pytest.approx(0.25, abs=0.0125)


def test_a_limit_of_a_whole_number_of_packets_holds_that_many(bench: Bench) -> None:
    room = 10
    full = {"limit_bytes": room * FULL_BYTES, "threshold_bytes": room * FULL_BYTES}
    link = fill(bench, "whole", GATEWAY | full, room + 2, FULL_BYTES)
    assert link.record["shown"][0]["qlen"] == room
    assert counted(link)["overflow_pkts"] == 2


def test_the_same_seed_drops_the_same_packets_and_another_does_not(bench: Bench) -> None:
    small = GATEWAY | {"threshold_bytes": 3000, "limit_bytes": 10**6}
    sent = np.column_stack([np.arange(500) * 100_000, np.full(500, FULL_BYTES)]).astype(np.uint64)
    link = {"kind": "replay", "mode": "rate", "limit_bytes": 1, "overhead_bytes": 0, "start_bps": 50_000_000}
    lost = [
        cross(bench, f"seed-{name}", link | {"child": small | {"seed": seed}}, sent, 1.0)
        .packets["received_s"]
        .is_null()
        .to_list()
        for name, seed in (("a", 5), ("again", 5), ("other", 6))
    ]
    assert lost[0] == lost[1] != lost[2]
    assert 0 < sum(lost[0]) < 250
