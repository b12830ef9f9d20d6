# SPDX-License-Identifier: GPL-2.0-or-later
"""The class of an exit, rule by rule."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from lab.judge.classify import ExitClass, by_bitrate, by_time
from lab.judge.slow_start import SlowStartExit

LEFT = SlowStartExit(t_s=10.0, cwnd_pkts=1000, rtt_ms=600.0, cause="search")
LEFT_UPON_LOSS = replace(LEFT, cause="loss")
times = st.floats(0, 100)
maybe_times = st.none() | times


def test_an_exit_before_the_capacity_is_early() -> None:
    assert by_time(LEFT, capacity_s=10.1, signal_s=17.0) is ExitClass.EARLY


def test_an_exit_between_capacity_and_loss_is_at_the_chokepoint() -> None:
    assert by_time(LEFT, capacity_s=9.0, signal_s=17.0) is ExitClass.CHOKEPOINT


def test_an_exit_at_the_very_moment_of_capacity_is_at_the_chokepoint() -> None:
    assert by_time(LEFT, capacity_s=10.0, signal_s=None) is ExitClass.CHOKEPOINT


def test_an_exit_that_the_kernel_ascribes_to_loss_is_late() -> None:
    assert by_time(LEFT_UPON_LOSS, capacity_s=9.0, signal_s=None) is ExitClass.LATE


def test_an_exit_with_the_first_loss_is_late_whatever_its_cause() -> None:
    assert by_time(LEFT, capacity_s=9.0, signal_s=10.0) is ExitClass.LATE


def test_an_exit_upon_a_loss_before_the_capacity_is_early() -> None:
    assert by_time(LEFT_UPON_LOSS, capacity_s=12.0, signal_s=9.9) is ExitClass.EARLY


def test_an_exit_from_a_link_that_never_fills_is_early() -> None:
    assert by_time(LEFT, capacity_s=None, signal_s=None) is ExitClass.EARLY


def test_a_timeout_is_a_loss() -> None:
    assert by_time(replace(LEFT, cause="timeout"), None, None) is by_time(LEFT_UPON_LOSS, None, None)


def test_an_exit_upon_loss_is_late_though_the_rule_never_saw_the_capacity() -> None:
    assert by_time(LEFT_UPON_LOSS, capacity_s=None, signal_s=9.9) is ExitClass.LATE


def test_an_exit_from_a_link_with_signs_of_a_queue_but_no_capacity_found_is_not_judged() -> None:
    assert by_time(LEFT, capacity_s=None, signal_s=None, filling=True) is None


def test_a_sender_that_never_left_slow_start_has_no_class() -> None:
    assert by_time(None, capacity_s=9.0, signal_s=None) is None
    assert by_bitrate(None, 100.0, 90.0, None) is None


def test_by_median_throughput_an_exit_bitrate_below_the_median_is_early() -> None:
    assert by_bitrate(LEFT, 89.9, 90.0, signal_s=None) is ExitClass.EARLY
    assert by_bitrate(LEFT, 90.0, 90.0, signal_s=None) is ExitClass.CHOKEPOINT


def test_by_median_throughput_an_exit_upon_loss_is_late_unless_it_is_early() -> None:
    assert by_bitrate(LEFT_UPON_LOSS, 95.0, 90.0, signal_s=9.9) is ExitClass.LATE
    assert by_bitrate(LEFT_UPON_LOSS, 85.0, 90.0, signal_s=9.9) is ExitClass.EARLY


def test_an_unknown_bitrate_or_median_gives_no_class() -> None:
    assert by_bitrate(LEFT, None, 90.0, None) is None
    assert by_bitrate(LEFT, 90.0, None, None) is None


@given(times, times, maybe_times)
def test_a_later_exit_is_never_in_an_earlier_class(exit_s: float, capacity_s: float, loss_s: float | None) -> None:
    order = list(ExitClass)
    now = by_time(replace(LEFT, t_s=exit_s), capacity_s, loss_s)
    later = by_time(replace(LEFT, t_s=exit_s + 1), capacity_s, loss_s)
    assert now is not None
    assert later is not None
    assert order.index(now) <= order.index(later)
