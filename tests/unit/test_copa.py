# SPDX-License-Identifier: GPL-2.0-or-later
"""Copa's core does what each section of its paper (NSDI 2018) says."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.copa import Core, Params

LEAST_US = 100_000
PAPER = Params()


def settled(library: Path, cwnd_pkts: int = 100, params: Params = PAPER) -> Core:
    """A flow that has left slow start, and knows an RTTmin of 100 ms."""
    core = Core(library, cwnd_pkts, params)
    core.round(LEAST_US, acks=5)
    core.lose()
    core.state.cwnd_fp = cwnd_pkts << 16
    return core


class TestSlowStart:
    """The window doubles each round trip, until the rate exceeds the target."""

    def test_it_doubles_without_a_queue(self, cores: Path) -> None:
        core = Core(cores)
        windows = []
        for _ in range(5):
            core.round()
            windows.append(core.cwnd)
        assert windows == [20, 40, 80, 160, 320]

    @pytest.mark.parametrize(("queueing_us", "leaves"), [(0, False), (10_000, False), (10_300, True), (50_000, True)])
    def test_it_ends_when_the_rate_exceeds_the_target(self, cores: Path, queueing_us: int, leaves: bool) -> None:
        """The target is 2 RTTstanding / dq packets: 22 with 10 ms, 21.4 with 10.3 ms."""
        core = Core(cores, 21)
        core.ack(rtt_us=LEAST_US)
        core.state.cwnd_fp = 22 << 16
        assert core.ack(rtt_us=LEAST_US + queueing_us, after_us=200_000) == leaves

    def test_it_ends_with_a_loss_and_does_not_grow_where_the_window_is_no_limit(self, cores: Path) -> None:
        core = Core(cores)
        core.ack(limited=0)
        assert core.cwnd == 10
        core = Core(cores)
        core.round()
        core.lose()
        core.ack()
        assert core.cwnd == pytest.approx(20.1)


class TestUpdateRule:
    """v / (delta cwnd) for each acknowledged packet."""

    def test_above_or_not_above_the_target_a_round_trip_takes_or_adds_one_by_delta(self, cores: Path) -> None:
        core = settled(cores)
        core.round()
        assert core.cwnd == pytest.approx(102, abs=0.1)
        core = settled(cores)
        core.ack(rtt_us=2 * LEAST_US, after_us=10 * LEAST_US)
        assert core.cwnd == pytest.approx(100 - 2 / 100, abs=0.001)

    def test_the_standing_round_trip_is_the_least_of_half_a_smoothed_one_and_is_forgotten(self, cores: Path) -> None:
        """A single late ACK is no queue."""
        core = settled(cores)
        core.round()
        core.ack(rtt_us=2 * LEAST_US)
        assert core.state.standing.now == LEAST_US
        core = settled(cores)
        for _ in range(120):
            core.round(2 * LEAST_US, acks=10)
        assert min(core.state.least.now, core.state.least.before) == 2 * LEAST_US

    @given(rtts=st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=60), acked=st.integers(0, 2**32 - 1))
    def test_the_window_stays_within_its_bounds(self, cores: Path, rtts: list[int], acked: int) -> None:
        core = Core(cores, 2)
        for rtt_us in rtts:
            core.ack(rtt_us=rtt_us, srtt_us=rtt_us, acked_pkts=acked, after_us=rtt_us % 70_000)
            assert 2 <= core.cwnd <= 2**24


class TestVelocity:
    """It doubles with each window in one direction, once there were three."""

    def test_three_windows_in_one_direction_come_first_and_a_change_makes_it_one(self, cores: Path) -> None:
        core = settled(cores)
        velocities = []
        for _ in range(8):
            core.round()
            velocities.append(core.state.velocity)
        assert velocities == [1, 1, 1, 1, 1, 2, 4, 8]  # the first window turns the direction, three follow
        core = settled(cores)
        for _ in range(8):
            core.round()
        for _ in range(3):
            core.round(2 * LEAST_US)
        assert core.state.velocity == 1


class TestCompeting:
    """1 / delta grows while the queue is never nearly empty."""

    def full(self, core: Core, rounds: int) -> None:
        """A queue that swings between 90 and 100 ms."""
        for number in range(rounds):
            core.round(LEAST_US + 90_000 + 10_000 * (number % 2), acks=20)

    def test_a_queue_that_is_never_nearly_empty_begins_the_mode(self, cores: Path) -> None:
        core = settled(cores)
        self.full(core, 4)
        assert not core.state.competing
        self.full(core, 6)
        assert core.state.competing
        assert core.state.inverse_delta > 2

    def test_a_loss_halves_it(self, cores: Path) -> None:
        core = settled(cores)
        self.full(core, 30)
        before = core.state.inverse_delta
        core.lose()
        self.full(core, 1)
        self.full(core, 1)
        assert core.state.inverse_delta in (before // 2, before // 2 + 1, before // 2 + 2)

    def test_an_empty_queue_ends_it_and_it_can_be_switched_off(self, cores: Path) -> None:
        core = settled(cores)
        self.full(core, 30)
        core.round(LEAST_US, acks=20)
        assert (core.state.competing, core.state.inverse_delta) == (0, 2)
        core = settled(cores, params=Params(competes=0))
        self.full(core, 30)
        assert (core.state.competing, core.state.inverse_delta) == (0, 2)
