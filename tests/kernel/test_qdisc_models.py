# SPDX-License-Identifier: GPL-2.0-or-later
"""Drops, a policer, reordering, duplicates and bursts of losses are those of their exact models, packet by packet."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from tests.conftest import Bench
from tests.link_bench import Arrivals, Spec, cross

FULL_BYTES = 1514
MASK = 2**64 - 1
LINK: Spec = {"kind": "replay", "mode": "rate", "limit_bytes": 1, "overhead_bytes": 0, "start_bps": 1_000_000_000}
POLICER: Spec = {"kind": "policer", "limit_bytes": 10**7, "burst_bytes": 30_000, "rate_bps": 10_000_000}
DISTURB: Spec = {"kind": "disturb", "limit_bytes": 10**7, "hold_every_pkts": 0, "hold_pkts": 1, "copy_every_pkts": 0}
BURSTS: Spec = {"kind": "bursts", "limit_bytes": 10**7, "begin_pct": 1.0, "end_pct": 20.0, "loss_pct": 50.0, "seed": 7}


def sent(bench: Bench, name: str, child: Spec, count: int, gap_ns: int) -> Arrivals:
    packets = np.column_stack([np.arange(count) * gap_ns, np.full(count, FULL_BYTES)]).astype(np.uint64)
    return cross(bench, f"disturb-{name}", LINK | {"child": child}, packets, count * gap_ns / 1e9 + 0.2)


def lost(link: Arrivals) -> list[bool]:
    return [bool(each) for each in link.packets["received_s"].is_null().to_list()]


def policed(count: int, gap_ns: int, rate_bps: int, burst_bytes: int) -> list[bool]:
    """Return which of some packets a token bucket drops."""
    full = burst_bytes * 8 * 10**9
    tokens, found = full, []
    for number in range(count):
        tokens = min(full, tokens + rate_bps * gap_ns) if number else tokens
        needed = FULL_BYTES * 8 * 10**9
        found.append(tokens < needed)
        tokens -= 0 if found[-1] else needed
    return found


def test_a_policer_drops_what_its_tokens_do_not_cover(bench: Bench) -> None:
    link = sent(bench, "policer", POLICER, 400, 300_000)  # 40 Mb/s into 10
    assert lost(link) == policed(400, 300_000, POLICER["rate_bps"], POLICER["burst_bytes"])
    assert link.record["statistics"]["policer"]["policed_pkts"] == sum(lost(link)) > 200


def test_a_policer_lets_its_rate_pass(bench: Bench) -> None:
    assert not any(lost(sent(bench, "policer-slow", POLICER, 100, 1_300_000)))  # 9.3 Mb/s


@pytest.mark.parametrize("hold_pkts", [1, 3, 10])
def test_so_many_packets_overtake_a_held_one(bench: Bench, hold_pkts: int) -> None:
    spec = DISTURB | {"hold_every_pkts": 20, "hold_pkts": hold_pkts}
    link = sent(bench, f"hold-{hold_pkts}", spec, 100, 100_000)
    expected: list[int] = []
    for number in range(100):  # the packets of the bench are all that arrive
        if (number + 1) % 20:
            expected.append(number)
        if number >= 20 and (number + 1) % 20 == hold_pkts:
            expected.append(number - hold_pkts)
    assert link.order.to_list()[:90] == expected[:90]


def test_every_so_many_packets_come_twice(bench: Bench) -> None:
    link = sent(bench, "copy", DISTURB | {"copy_every_pkts": 10}, 100, 100_000)
    counts = link.record["statistics"]["disturb"]
    assert counts["copied_pkts"] == 10
    assert not any(lost(link))
    assert link.record["shown"][0]["packets"] == 110


def test_one_that_is_held_is_copied_too(bench: Bench) -> None:
    link = sent(bench, "both", DISTURB | {"hold_every_pkts": 20, "copy_every_pkts": 10}, 100, 100_000)
    assert [link.record["statistics"]["disturb"][name] for name in ("held_pkts", "copied_pkts")] == [5, 10]


def test_a_link_saves_nothing_while_only_a_held_packet_waits(bench: Bench) -> None:
    """Two bursts, 0.2 s apart, each of 20 packets of which the last is held: the second takes its time, too."""
    times = np.repeat(np.array([0, 200_000_000]), 20)
    packets = np.column_stack([times, np.full(40, FULL_BYTES)]).astype(np.uint64)
    spec = LINK | {"start_bps": 100_000_000, "child": DISTURB | {"hold_every_pkts": 20}}
    received_s = cross(bench, "disturb-idle", spec, packets, 0.5).received["received_s"].sort()
    frame_s = FULL_BYTES * 8 / 100_000_000
    assert received_s.len() == 39
    assert received_s.diff().min() == pytest.approx(frame_s, abs=2e-6)


@pytest.mark.parametrize("hold_pkts", [2, 50])
def test_a_held_packet_has_a_place_in_the_buffer_and_only_queued_ones_pass_it(bench: Bench, hold_pkts: int) -> None:
    full = DISTURB | {"limit_bytes": 10 * FULL_BYTES, "hold_every_pkts": 9, "hold_pkts": hold_pkts}
    link = fill(bench, f"held-{hold_pkts}", full, 60, FULL_BYTES)
    counts = link.record["statistics"]["disturb"]
    assert link.record["shown"][0]["qlen"] == 10
    assert (counts["held_pkts"], counts["overflow_pkts"]) == (1, 50)
    assert [entry["qlen"] for entry in link.record["shown"][1:]] == [9]


def draws(seed: int) -> Iterator[int]:
    """Yield what SplitMix64 draws from a seed, in 32 bits."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield (z ^ (z >> 31)) >> 32


def test_losses_in_bursts_are_those_of_the_model_and_its_seed(bench: Bench) -> None:
    link = sent(bench, "bursts", BURSTS, 2000, 50_000)
    bad, expected = False, []
    numbers = (drawn * 1_000_000 >> 32 for drawn in draws(BURSTS["seed"]))
    for _ in range(2000):
        changes, chosen = next(numbers) < (200_000 if bad else 10_000), next(numbers) < 500_000
        bad ^= changes
        expected.append(bad and chosen)
    assert lost(link) == expected
    assert link.record["statistics"]["bursts"]["lost_pkts"] == sum(expected) > 20


GATEWAY: Spec = {  # thesis 5.1.1
    "kind": "step_drop",
    "limit_bytes": 36_000_000,
    "threshold_bytes": 18_000_000,
    "drop_pct": 25.0,
    "seed": 11,
}
SHARE_TOLERANCE_PCT = 0.25  # 1 % of 25 %
SMALLEST_BYTES = 60


def fill(bench: Bench, name: str, child: Spec, count: int, size: int) -> Arrivals:
    """Send packets into a queue behind a link that is stalled, so that all that is not dropped stays."""
    stalled = {"kind": "replay", "mode": "rate", "limit_bytes": 1, "overhead_bytes": 0, "start_bps": 0, "child": child}
    packets = np.column_stack([np.arange(count) * 10_000, np.full(count, size)]).astype(np.uint64)
    return cross(bench, f"step-drop-{name}", stalled, packets, count * 1e-5 + 0.2)


def counted(link: Arrivals) -> dict[str, int]:
    counts: dict[str, int] = link.record["statistics"]["step_drop"]
    return counts


def test_the_share_that_is_dropped_is_the_stated_one(bench: Bench) -> None:
    link = fill(bench, "share", GATEWAY | {"threshold_bytes": 0}, 160_000, SMALLEST_BYTES)
    counts = counted(link)
    assert counts["exposed_pkts"] == 160_000 - 1  # all but the one that found the queue empty
    share_pct = 100 * counts["chosen_pkts"] / counts["exposed_pkts"]
    assert share_pct == pytest.approx(25, abs=SHARE_TOLERANCE_PCT)
    assert counts["chosen_pkts"] == sum(
        drawn < 2**30 for drawn in islice(draws(GATEWAY["seed"]), counts["exposed_pkts"])
    )
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
