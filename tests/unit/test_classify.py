# SPDX-License-Identifier: GPL-2.0-or-later
"""The class of an exit, rule by rule; and the chokepoint behind a queue that manages itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.judge.classify import ExitClass, by_bitrate, by_time
from lab.judge.loss import first_mark_s
from lab.judge.rules import lasting
from lab.judge.slow_start import SlowStartExit, first_exit
from tests.slow_start_model import FRAME_BYTES, INTERVAL_S, TARGET_S, Download, Path, download
from tests.unit.test_heuristics_of_capacity import last_empty_s

LEFT = SlowStartExit(t_s=10.0, cwnd_pkts=1000, rtt_ms=600.0, cause="search")
LEFT_UPON_LOSS = replace(LEFT, cause="loss")
times = st.floats(0, 100)
maybe_times = st.none() | times


@pytest.mark.parametrize(
    ("left", "capacity_s", "signal_s", "found"),
    [
        (LEFT, 10.1, 17.0, ExitClass.EARLY),  # before the capacity
        (LEFT, 9.0, 17.0, ExitClass.CHOKEPOINT),
        (LEFT, 10.0, None, ExitClass.CHOKEPOINT),  # at the very moment of capacity
        (LEFT_UPON_LOSS, 9.0, None, ExitClass.LATE),  # the kernel ascribes it to loss
        (LEFT, 9.0, 10.0, ExitClass.LATE),  # with the first loss, whatever its cause
        (LEFT_UPON_LOSS, 12.0, 9.9, ExitClass.EARLY),
        (LEFT, None, None, ExitClass.EARLY),  # from a link that never fills
        (LEFT_UPON_LOSS, None, 9.9, ExitClass.LATE),  # though the rule never saw the capacity
        (replace(LEFT, cause="timeout"), None, None, by_time(LEFT_UPON_LOSS, None, None)),  # a timeout is a loss
    ],
)
def test_an_exit_is_judged_by_the_times_of_capacity_and_of_the_first_signal(
    left: SlowStartExit, capacity_s: float | None, signal_s: float | None, found: ExitClass
) -> None:
    assert by_time(left, capacity_s, signal_s) is found


def test_what_never_left_slow_start_or_has_no_capacity_but_signs_of_a_queue_is_not_judged() -> None:
    assert by_time(LEFT, capacity_s=None, signal_s=None, filling=True) is None
    assert by_time(None, capacity_s=9.0, signal_s=None) is None
    assert by_bitrate(None, 100.0, 90.0, None) is None


@pytest.mark.parametrize(
    ("left", "bitrate", "median", "signal_s", "found"),
    [
        (LEFT, 89.9, 90.0, None, ExitClass.EARLY),
        (LEFT, 90.0, 90.0, None, ExitClass.CHOKEPOINT),
        (LEFT_UPON_LOSS, 95.0, 90.0, 9.9, ExitClass.LATE),
        (LEFT_UPON_LOSS, 85.0, 90.0, 9.9, ExitClass.EARLY),
        (LEFT, None, 90.0, None, None),
        (LEFT, 90.0, None, None, None),
    ],
)
def test_by_median_throughput_a_lower_bitrate_is_early_and_a_loss_else_late(
    left: SlowStartExit, bitrate: float | None, median: float | None, signal_s: float | None, found: ExitClass | None
) -> None:
    assert by_bitrate(left, bitrate, median, signal_s) is found


@given(times, times, maybe_times)
def test_a_later_exit_is_never_in_an_earlier_class(exit_s: float, capacity_s: float, loss_s: float | None) -> None:
    order = list(ExitClass)
    now = by_time(replace(LEFT, t_s=exit_s), capacity_s, loss_s)
    later = by_time(replace(LEFT, t_s=exit_s + 1), capacity_s, loss_s)
    assert now is not None
    assert later is not None
    assert order.index(now) <= order.index(later)


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
