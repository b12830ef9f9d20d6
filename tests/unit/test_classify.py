# SPDX-License-Identifier: GPL-2.0-or-later
"""The class of an exit, rule by rule."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.judge.classify import ExitClass, by_bitrate, by_time
from lab.judge.slow_start import SlowStartExit

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
