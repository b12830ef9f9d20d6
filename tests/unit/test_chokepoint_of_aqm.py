# SPDX-License-Identifier: GPL-2.0-or-later
"""Behind a queue that manages itself the chokepoint lies between the standing queue's begin and the first mark."""

from dataclasses import replace

import pytest

from lab.judge.classify import by_time
from lab.judge.loss import first_mark_s
from lab.judge.rules import lasting
from lab.judge.slow_start import first_exit
from tests.slow_start_model import FRAME_BYTES, INTERVAL_S, TARGET_S, Download, Path, download
from tests.unit.test_heuristics_of_capacity import last_empty_s

HOME = Path(rate_mbps=100, base_rtt_ms=20, buffer_bytes=32_000_000, duration_s=1, codel=True)
EVERY_S = 0.0003
FULL_PKTS = HOME.rate_mbps * 1e6 * HOME.base_rtt_ms / 8e3 / FRAME_BYTES  # window that fills the path


def first_signal_s(model: Download) -> float:
    """CoDel's first signal from the exact times of all frames: the first that ends an interval above the target."""
    sending_s = FRAME_BYTES * 8 / (model.path.rate_mbps * 1e6)
    began_s = [(leaves_s - sending_s, leaves_s - sending_s - enters_s) for enters_s, leaves_s in sorted(model.queue)]
    above_s = None
    for leaves_s, waited_s in began_s:
        above_s = None if waited_s < TARGET_S else leaves_s if above_s is None else above_s
        if above_s is not None and leaves_s >= above_s + INTERVAL_S:
            return leaves_s
    raise AssertionError


def judged(path: Path) -> tuple[str | None, float | None, float | None]:
    """Return the class of the model's exit, its capacity and its first mark, from its tables alone."""
    model = download(path)
    left, mark_s = first_exit(model.tables()["exits"]), first_mark_s(model.tables()["packets"])
    capacity_s = lasting.capacity_s(model.qdisc(EVERY_S), path.link, left.t_s if left else None)
    return by_time(left, capacity_s, mark_s), capacity_s, mark_s


def test_the_queue_stands_and_is_first_marked_when_the_exact_model_has_it() -> None:
    model = download(HOME)
    _, capacity_s, mark_s = judged(HOME)
    signal_s = first_signal_s(model)
    assert capacity_s == pytest.approx(last_empty_s(model, signal_s), abs=2 * EVERY_S)
    assert mark_s == pytest.approx(signal_s + HOME.base_rtt_ms / 2e3, abs=FRAME_BYTES * 8e-6 / HOME.rate_mbps + 1e-9)
    assert capacity_s is not None
    assert mark_s is not None
    assert mark_s - capacity_s > INTERVAL_S
    assert judged(replace(HOME, codel=False))[2] is None


@pytest.mark.parametrize(
    ("exit_cwnd_pkts", "found"),
    [
        (round(FULL_PKTS / 2), "early"),
        (round(1.5 * FULL_PKTS), "chokepoint"),
        (None, "late"),  # the mark ends slow start
    ],
)
def test_an_exit_is_judged_by_the_standing_queue_and_the_mark(exit_cwnd_pkts: int | None, found: str) -> None:
    assert judged(replace(HOME, exit_cwnd_pkts=exit_cwnd_pkts))[0] == found
