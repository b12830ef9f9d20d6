# SPDX-License-Identifier: GPL-2.0-or-later
"""A delay line that follows a series: known delay and loss in, measured out; and what a sender learns of a loss."""

from pathlib import Path

import numpy as np
import pytest

from lab.backends import boot
from lab.node.qdiscs import series
from tests.conftest import Bench
from tests.guest import qdiscs as guest_qdiscs
from tests.link_bench import Arrivals, Spec, at_pace, cross
from tests.unit.test_qdiscs import DELAY_LINE, NETEM

TOLERANCE_S = 20e-6
SLACK_S = 100e-6  # the source itself is awakened 50 us late
END = (60_000_000, "end")


def delays_s(link: Arrivals) -> np.ndarray:
    return (link.received["received_s"] - link.received["sent_s"]).to_numpy()


def test_a_delay_step_is_for_the_packets_that_come_after_it(bench: Bench) -> None:
    steps = [(0, 30_000, 0.0), (1_000_000, 80_000, 0.0), END]
    link = cross(bench, "delay-step", DELAY_LINE, at_pace(2, 0, 2), 2.5, steps)
    sent_s = link.received["sent_s"].to_numpy()
    asked_s = np.where(sent_s < 1.0, 0.03, 0.08)
    error_s = np.abs(delays_s(link) - asked_s)
    assert error_s.max() < TOLERANCE_S
    assert link.statistics["sent_pkts"] == len(link.packets)
    assert link.statistics["late_pkts"] == 0
    assert link.statistics["latest_ns"] < TOLERANCE_S * 1e9


def test_a_delay_that_falls_reorders_nothing(bench: Bench) -> None:
    ramp = [(10_000 * step, 200_000 - 1_000 * step, 0.0) for step in range(180)]  # 1 ms less every 10 ms
    first = DELAY_LINE | {"delay_us": 200_000}
    link = cross(bench, "delay-ramp", first, at_pace(5, 0, 1.8), 2.2, [*ramp, END])
    assert link.order.is_sorted()
    assert len(link.received) == len(link.packets)
    sent_s = link.received["sent_s"].to_numpy()
    asked_s = 0.2 - 0.001 * np.floor(sent_s / 0.01)
    error_s = np.abs(delays_s(link) - asked_s)
    assert error_s.max() < TOLERANCE_S


def test_a_delay_that_falls_at_once_reorders_nothing(bench: Bench) -> None:
    steps = [(0, 200_000, 0.0), (1_000_000, 20_000, 0.0), END]
    link = cross(bench, "delay-fall", DELAY_LINE, at_pace(5, 0, 2), 2.5, steps)
    assert link.order.is_sorted()
    assert len(link.received) == len(link.packets)
    sent_s, received_s = (link.received[name].to_numpy() for name in ("sent_s", "received_s"))
    asked_s = np.maximum.accumulate(sent_s + np.where(sent_s < 1.0, 0.2, 0.02))
    assert np.abs(received_s - asked_s).max() < TOLERANCE_S


def test_a_delay_that_changes_every_millisecond_is_each_packets_own(bench: Bench) -> None:
    steps = [(1_000 * step, 50_000 + 700 * (step % 40), 0.0) for step in range(2000)]
    packets = at_pace(1, 0, 2, 100)
    link = cross(bench, "delay-cycle", DELAY_LINE, packets, 2.5, [*steps, END])
    sent_s, received_s = (link.received[name].to_numpy() for name in ("sent_s", "received_s"))
    asked_s = 0.05 + 0.0007 * (np.floor(sent_s / 0.001 + 1e-9) % 40)
    assert np.abs(received_s - np.maximum.accumulate(sent_s + asked_s)).max() < TOLERANCE_S
    assert link.statistics["consumed_steps"] == len(steps)
    assert link.statistics["underruns"] == 0


BURSTS = np.array([(at_ms * 1_000_000, 1514) for at_ms in (100, 104, 109, 131, 133) for _ in range(7)], dtype=np.uint64)


def test_it_delays_as_netem_does_where_nothing_changes(bench: Bench) -> None:
    netem = cross(bench, "as-netem", NETEM, BURSTS, 1.0).packets["received_s"].to_numpy()
    line = cross(bench, "as-line", DELAY_LINE, BURSTS, 1.0, [(0, 30_000, 0.0), END]).packets["received_s"].to_numpy()
    assert np.abs(netem - line).max() < 7 * 1514 * 8 / 10e9 + TOLERANCE_S  # netem's rate, one packet behind the other


@pytest.mark.parametrize(
    ("frame_pkts", "asked_ms"),
    [
        (0, [130] * 7 + [138] * 7 + [146] * 7 + [161] * 7 + [169] * 7),
        (4, [130] * 4 + [138] * 4 + [146] * 4 + [154] * 4 + [162] * 4 + [170] * 4 + [178] * 4 + [186] * 4 + [194] * 3),
    ],
)
def test_an_idle_line_delivers_at_once_then_one_a_period(bench: Bench, frame_pkts: int, asked_ms: list[int]) -> None:
    spec = DELAY_LINE | {"frame_us": 8_000, "frame_pkts": frame_pkts}
    link = cross(bench, f"frames-{frame_pkts}", spec, BURSTS, 1.0)
    assert link.packets["received_s"].to_numpy() == pytest.approx(np.array(asked_ms) / 1e3, abs=SLACK_S)
    assert link.order.is_sorted()


def test_a_packet_whose_delay_fell_leaves_in_the_frame_that_still_waits(bench: Bench) -> None:
    steps = [(0, 200_000, 0.0), (105_000, 30_000, 0.0), END]  # between the second burst and the third
    spec = DELAY_LINE | {"delay_us": 200_000, "frame_us": 8_000}
    link = cross(bench, "frames-fall", spec, BURSTS, 1.0, steps)
    asked_ms = [300] * 7 + [308] * 28
    assert link.packets["received_s"].to_numpy() == pytest.approx(np.array(asked_ms) / 1e3, abs=SLACK_S)
    assert link.order.is_sorted()


def test_netem_changed_each_time_loses_the_time_that_a_change_takes(bench: Bench) -> None:
    """Why a series is not replayed with netem: a change that is sent to it when it is due comes after that time."""
    steps = [{"at_s": 0.01 * step, "spec": NETEM | {"delay_us": 30_000 + 100 * step}} for step in range(100)]
    link = cross(bench, "netem-steps", NETEM, at_pace(2, 0, 1), 1.5, steps=steps)
    assert len(link.record["late_us"]) == len(steps)
    assert 0 < np.median(link.record["late_us"]) < 1000


def test_loss_restated_100_times_a_second_stays_random(bench: Bench) -> None:
    loss_pct = 5.0
    steps = [(10_000 * step, 1_000, loss_pct) for step in range(300)]
    link = cross(bench, "loss-steps", DELAY_LINE, at_pace(10, 0, 3, 500), 3.2, [*steps, END])
    lost = link.packets["received_s"].is_null().to_numpy()
    sd = (0.05 * 0.95 / len(lost)) ** 0.5
    assert lost.mean() == pytest.approx(0.05, abs=4 * sd)
    assert link.statistics["lost_pkts"] == lost.sum()
    assert link.statistics["loss_sum"] / series.WHOLE == pytest.approx(0.05 * len(lost), rel=1e-6)
    in_steps = [chunk.sum() for chunk in np.array_split(lost, 300)]  # 25 packets a step: 1.25 lost, sd 1.09
    assert np.var(in_steps) == pytest.approx(25 * 0.05 * 0.95, rel=0.35)


def test_loss_follows_its_series(bench: Bench) -> None:
    steps = [(0, 1_000, 0.0), (1_000_000, 1_000, 100.0), (2_000_000, 1_000, 0.0), END]
    link = cross(bench, "loss-all", DELAY_LINE, at_pace(5, 0, 3, 500), 3.2, steps)
    came_s = link.packets.filter(link.packets["received_s"].is_not_null())["sent_s"].to_numpy()
    assert not ((came_s > 1.0) & (came_s < 2.0)).any()
    assert link.packets["received_s"].null_count() == link.statistics["lost_pkts"] == pytest.approx(1250, abs=2)


def test_what_finds_the_line_full_is_dropped_and_counted(bench: Bench) -> None:
    link = cross(bench, "line-full", DELAY_LINE | {"limit_pkts": 5}, at_pace(10, 0, 0.02, 500), 0.5)
    assert link.received["number"].to_list() == [0, 1, 2, 3, 4]
    assert link.statistics["overflow_pkts"] == len(link.packets) - 5


def reported(bench: Bench, folder: Path, spec: Spec) -> int:
    """Count what the sender learns of ten packets."""
    arguments = {"spec": spec, "count": 10}
    called = boot.call(guest_qdiscs.refused_by_own_queue, arguments, folder, bench.kernel, bench.world.root)
    count: int = called.result
    return count


def test_what_is_lost_on_the_way_is_not_reported_and_what_finds_the_line_full_is(bench: Bench, tmp_path: Path) -> None:
    assert reported(bench, tmp_path, DELAY_LINE | {"loss_pct": 100.0}) == 0
    assert reported(bench, tmp_path, DELAY_LINE | {"limit_pkts": 4}) == 6
