# SPDX-License-Identifier: GPL-2.0-or-later
"""A return link grants what was requested, when it was, and no more; every frame is as in a model of it."""

from collections import deque
from pathlib import Path

import numpy as np
import pytest

from lab.backends import boot
from tests.conftest import Bench
from tests.guest import qdiscs as guest_qdiscs
from tests.link_bench import Arrivals, Spec, cross

ACK_BYTES = 66
GEO: Spec = {
    "kind": "on_demand",
    "frame_us": 40_000,
    "phase_us": 5_000,
    "guaranteed_pkts": 1,
    "request_delay_us": 200_000,
    "cap_bytes": 100_000,
    "report": "new",
    "limit_bytes": 1_000_000,
    "period_us": 0,
}
RATE = {"report": "rate", "period_us": 400_000}
LTE: Spec = GEO | {"frame_us": 5_000, "phase_us": 0, "guaranteed_pkts": 0, "request_delay_us": 8_000}
TOLERANCE_S = 5e-6


def burst(*at: tuple[int, int], frame_bytes: int = ACK_BYTES) -> np.ndarray:
    """Build bursts of (ms, packets)."""
    rows = [[ms * 1_000_000, frame_bytes] for ms, count in at for _ in range(count)]
    return np.array(rows, dtype=np.uint64)


def frames(link: Arrivals) -> dict[int, int]:
    """Count packets by the frame that carried them, numbered from that of t = 0."""
    spec, start_us = link.record["got"], link.record["start_ns"] / 1e3
    since_phase = (link.received["received_s"].to_numpy() * 1e6 + start_us - spec["phase_us"]) / spec["frame_us"]
    assert np.abs(since_phase - np.round(since_phase)).max() * spec["frame_us"] / 1e6 < TOLERANCE_S
    first = np.ceil((start_us - spec["phase_us"]) / spec["frame_us"])
    numbers, counts = np.unique(np.round(since_phase - first).astype(int), return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


class Terminal:
    """What a terminal reports in each frame, and what of a report one frame is granted."""

    def __init__(self, spec: Spec) -> None:
        self.kind, self.arrived_bytes, self.rate_bytes = spec["report"], 0, 0
        self.period_frames = -(-spec["period_us"] // spec["frame_us"])
        self.frames, self.granted, self.given = 0, 0, 0

    def share(self, reported_bytes: int) -> int:
        """Of a rate (bytes in a period): its share, such that shares add up to the whole."""
        if self.kind != "rate":
            return reported_bytes
        self.granted += reported_bytes
        share: int = self.granted // self.period_frames - self.given
        self.given += share
        return share

    def report(self, waiting_bytes: int, known_bytes: int) -> int:
        self.frames += 1
        if self.kind != "rate":
            return max(waiting_bytes - (known_bytes if self.kind == "new" else 0), 0)
        if self.frames % self.period_frames == 0:
            self.rate_bytes, self.arrived_bytes = self.arrived_bytes + waiting_bytes, 0
        return self.rate_bytes


def modelled(spec: Spec, link: Arrivals) -> list[float]:
    """Model the link frame by frame, and return when each packet leaves."""
    start_s, frame_s = link.record["start_ns"] / 1e9, spec["frame_us"] / 1e6
    arrivals = deque(zip(link.packets["sent_s"] + start_s, link.packets["frame_bytes"], strict=True))
    way = deque([0] * max(-(-spec["request_delay_us"] // spec["frame_us"]), 1))
    queue, left, owed, at_s = deque[int](), list[float](), 0, spec["phase_us"] / 1e6
    terminal = Terminal(spec)
    while len(left) < len(link.packets):
        while arrivals and arrivals[0][0] < at_s:
            queue.append(arrivals.popleft()[1])
            terminal.arrived_bytes += queue[-1]
        due = terminal.share(way.popleft()) + owed
        granted = min(due, spec["cap_bytes"])
        owed = due - granted if spec["report"] == "new" else 0
        for _ in range(min(spec["guaranteed_pkts"], len(queue))):
            queue.popleft()
            left.append(at_s - start_s)
        while queue and granted >= queue[0]:
            granted -= queue.popleft()
            left.append(at_s - start_s)
        if queue:
            queue[0] -= granted
        way.append(terminal.report(sum(queue), sum(way) + owed))
        at_s += frame_s
    return left


def run(bench: Bench, name: str, spec: Spec, packets: np.ndarray) -> Arrivals:
    return cross(bench, f"on-demand-{name}", spec, packets, 4.0)


def test_at_first_a_frame_holds_the_guaranteed_packet_and_then_what_was_requested(bench: Bench) -> None:
    link = run(bench, "first", GEO, burst((0, 20)))
    assert frames(link) == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 15}  # 19 requested in frame 0, granted 200 ms later
    assert link.statistics["requested_bytes"] == 19 * ACK_BYTES
    assert link.statistics["guaranteed_sent_pkts"] == 6
    assert link.statistics["lapsed_bytes"] == 5 * ACK_BYTES  # that the guaranteed packets had left before


def test_a_grant_that_comes_too_late_lapses(bench: Bench) -> None:
    link = run(bench, "lapse", GEO, burst((0, 3), (500, 3)))
    assert set(frames(link).values()) == {1}
    assert link.statistics["granted_bytes"] == link.statistics["lapsed_bytes"] == 4 * ACK_BYTES


def test_what_the_cap_cuts_off_is_granted_later_when_requested_once_and_not_owed_of_a_rate(bench: Bench) -> None:
    link = run(bench, "cap", GEO | {"cap_bytes": 4 * ACK_BYTES}, burst((0, 30)))
    assert frames(link) == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 5, 6: 5, 7: 5, 8: 5, 9: 5}
    spec = GEO | RATE | {"guaranteed_pkts": 0, "cap_bytes": 2 * ACK_BYTES}
    link = run(bench, "rate-cap", spec, burst((0, 20)))
    assert set(frames(link).values()) == {2}
    assert link.statistics["granted_bytes"] < link.statistics["requested_bytes"]


def test_a_backlog_reported_in_every_frame_is_granted_many_times(bench: Bench) -> None:
    link = run(bench, "backlog", GEO | {"report": "backlog"}, burst((0, 20)))
    assert frames(link) == {0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 15}
    assert link.statistics["requested_bytes"] == (19 + 18 + 17 + 16 + 15) * ACK_BYTES
    assert link.statistics["lapsed_bytes"] == link.statistics["granted_bytes"] - 14 * ACK_BYTES


def test_a_packet_larger_than_a_grant_goes_in_pieces(bench: Bench) -> None:
    spec = GEO | {"guaranteed_pkts": 0, "cap_bytes": 500}
    link = run(bench, "pieces", spec, burst((0, 1), frame_bytes=1514))
    assert frames(link) == {8: 1}  # requested in frame 0; 500, 500, 500 and 14 bytes from frame 5 on


def test_a_rate_serves_what_arrived_and_what_waits_within_one_period(bench: Bench) -> None:
    """Twenty packets arrive and wait: the report at the period's end counts them twice."""
    spec = GEO | RATE | {"guaranteed_pkts": 0}
    link = run(bench, "rate", spec, burst((0, 20)))
    carried = frames(link)
    first = min(carried)
    assert carried == {first + n: 4 for n in range(5)}  # 40 packets' bytes in the 10 frames of a period
    begins_us = link.record["start_ns"] / 1e3
    reported_us = begins_us + min(link.received["received_s"]) * 1e6 - spec["request_delay_us"]
    assert (reported_us - spec["phase_us"]) % spec["period_us"] == pytest.approx(9 * spec["frame_us"], abs=5)
    # At the end of the next period nothing has arrived and nothing waits: its rate of 0 ends the grants.
    assert link.statistics["requested_bytes"] == 40 * ACK_BYTES
    assert link.statistics["granted_bytes"] == 40 * ACK_BYTES
    assert link.statistics["lapsed_bytes"] == 20 * ACK_BYTES


def test_ltes_uplink_carries_what_its_grants_do(bench: Bench) -> None:
    link = run(bench, "lte", LTE | {"cap_bytes": 10 * ACK_BYTES}, burst((1, 25)))
    assert frames(link) == {2: 10, 3: 10, 4: 5}  # requested in frame 0, granted in the first 8 ms after it


@pytest.mark.parametrize("report", ["new", "backlog", "rate"])
@pytest.mark.parametrize("kind", ["geo", "lte"])
def test_random_traffic_leaves_at_the_times_of_the_model(bench: Bench, kind: str, report: str) -> None:
    rng = np.random.default_rng(7)
    spec = (GEO | {"cap_bytes": 6000} if kind == "geo" else LTE | {"cap_bytes": 1500}) | {"report": report}
    if report == "rate":
        spec["period_us"] = 90_000 if kind == "geo" else 52_500  # of GEO's frames two and a quarter: three
    times = np.sort(rng.integers(0, 1_500_000_000, 800)).astype(np.uint64)
    packets = np.column_stack([times, rng.integers(66, 700, 800).astype(np.uint64)])
    link = run(bench, f"{kind}-{report}", spec, packets)
    got = link.packets["received_s"].to_list()
    assert got == pytest.approx(modelled(spec, link), abs=TOLERANCE_S)
    assert link.order.is_sorted()


def test_the_queue_holds_its_limit_and_no_more(bench: Bench) -> None:
    link = run(bench, "limit", GEO | {"limit_bytes": 10 * ACK_BYTES}, burst((0, 30)))
    assert len(link.received) == 10
    assert link.record["shown"][0]["drops"] == 20


def test_what_arrives_in_the_instant_in_which_a_frame_begins_is_for_the_next_one(bench: Bench, tmp_path: Path) -> None:
    """A frame begins every microsecond: a packet that arrives in that very nanosecond waits, as all others do."""
    spec = GEO | {"frame_us": 1, "phase_us": 0, "request_delay_us": 1}
    arguments = {"spec": spec, "count": 1000}
    called = boot.call(guest_qdiscs.pkts_that_waited, arguments, tmp_path, bench.kernel, bench.world.root)
    assert called.result == 1000
