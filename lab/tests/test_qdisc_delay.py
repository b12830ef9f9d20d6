# SPDX-License-Identifier: GPL-2.0-or-later
"""netem, stepped from a file: known delay and loss in, measured delay, order and loss out."""

from pathlib import Path

import numpy as np
import pytest

from lab.node import qdisc, series
from lab.node.tools import NodeError
from lab.tests.conftest import Bench
from lab.tests.link_bench import Arrivals, Spec, at_pace, cross

DELAY_LINE: Spec = {
    "kind": "netem",
    "limit_pkts": 1_000_000,
    "delay_us": 30_000,
    "loss_pct": 0.0,
    "rate_bps": 10e9,
    "slot_us": 0,
    "slot_pkts": 0,
    "seed": 7,
}
TOLERANCE_S = 50e-6
LATE_TOLERANCE_US = 50.0


def delays_s(link: Arrivals) -> np.ndarray:
    return (link.received["received_s"] - link.received["sent_s"]).to_numpy()


def test_a_delay_step_is_for_the_packets_that_come_after_it(bench: Bench) -> None:
    steps = [(0, 30_000, 0.0), (1_000_000, 80_000, 0.0)]
    link = cross(bench, "delay-step", DELAY_LINE, at_pace(2, 0, 2), 2.5, delays=steps)
    sent_s = link.received["sent_s"].to_numpy()
    asked_s = np.where(sent_s < 1.0, 0.03, 0.08)
    error_s = np.abs(delays_s(link) - asked_s)
    assert np.quantile(error_s, 0.99) < TOLERANCE_S
    assert max(link.record["late_us"]) < LATE_TOLERANCE_US


def test_a_delay_that_falls_reorders_nothing(bench: Bench) -> None:
    ramp = [(10_000 * step, 200_000 - 1_000 * step, 0.0) for step in range(180)]  # 1 ms less every 10 ms
    first = DELAY_LINE | {"delay_us": 200_000}
    link = cross(bench, "delay-ramp", first, at_pace(5, 0, 1.8), 2.2, delays=ramp)
    assert link.order.is_sorted()
    assert len(link.received) == len(link.packets)
    sent_s = link.received["sent_s"].to_numpy()
    asked_s = 0.2 - 0.001 * np.floor(sent_s / 0.01)
    error_s = np.abs(delays_s(link) - asked_s)
    assert np.quantile(error_s, 0.99) < TOLERANCE_S


def test_a_delay_that_falls_at_once_reorders_nothing(bench: Bench) -> None:
    steps = [(0, 200_000, 0.0), (1_000_000, 20_000, 0.0)]
    link = cross(bench, "delay-fall", DELAY_LINE, at_pace(5, 0, 2), 2.5, delays=steps)
    assert link.order.is_sorted()
    assert len(link.received) == len(link.packets)


def test_loss_restated_100_times_a_second_stays_random(bench: Bench) -> None:
    loss_pct = 5.0
    steps = [(10_000 * step, 1_000, loss_pct) for step in range(300)]
    link = cross(bench, "loss-steps", DELAY_LINE, at_pace(10, 0, 3, 500), 3.2, delays=steps)
    lost = link.packets["received_s"].is_null().to_numpy()
    sd = (0.05 * 0.95 / len(lost)) ** 0.5
    assert lost.mean() == pytest.approx(0.05, abs=4 * sd)
    in_steps = [chunk.sum() for chunk in np.array_split(lost, 300)]  # 25 packets a step: 1.25 lost, sd 1.09
    assert np.var(in_steps) == pytest.approx(25 * 0.05 * 0.95, rel=0.35)


def test_the_seed_is_said_when_netem_is_made_and_not_again() -> None:
    assert "seed 7" in qdisc.command("eth2", DELAY_LINE)
    assert "seed" not in qdisc.command("eth2", DELAY_LINE, "change")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0\t5\t0\n", "line 1: must have 4 fields, split by a tab"),
        ("0\t5\t0\t0\n0\t6\t0\t0\n", "line 2: must follow the line before in time"),
        ("0\t5\t101\t0\n", "line 1: must hold a loss of 0 to 100 %, and not '101'"),
        ("0\t5\tnan\t0\n", "line 1: must hold a loss of 0 to 100 %, and not 'nan'"),
        ("0\t-5\t0\t0\n", "line 1: must hold whole numbers from 0 on, and not '-5'"),
    ],
)
def test_a_file_that_holds_no_delays_is_refused_by_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "delays.tsv"
    file.write_text(text)
    with pytest.raises(NodeError, match=rf"^delays\.tsv: {words}$"):
        list(series.delays(file))
