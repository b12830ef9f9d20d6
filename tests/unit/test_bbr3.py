# SPDX-License-Identifier: GPL-2.0-or-later
"""BBR version 3's core does what each section of its draft says; the classes below are the draft's own test cases."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bbr3 import (
    BDP,
    CRUISE,
    DOWN,
    DRAIN,
    INFINITY,
    RATE,
    REFILL,
    STARTUP,
    UP,
    Ack,
    Flow,
    Params,
    Sent,
    after_round,
    in_mode,
    left,
    lose_ten,
    tcp_core,
)  # fmt: skip
from tests.paced_flow import Link


class TestStartup:
    """Exiting STARTUP on Bandwidth Plateau; on Loss When Application-Limited; never without either."""

    def test_a_plateau_ends_it_with_the_bandwidth_known_within_2_percent(self, cores: Path) -> None:
        flow = Flow(cores).run(5, until=left(STARTUP))
        assert flow.state.mode == DRAIN
        assert flow.rate == pytest.approx(RATE, rel=0.02)
        assert (flow.state.full_bw_count, flow.state.full_bw_now, flow.state.full_bw_reached) == (3, True, True)

    def test_the_rate_grows_to_the_bandwidth_in_rounds_by_its_logarithm(self, cores: Path) -> None:
        flow, rates = Flow(cores), []
        for number in range(1, 6):
            flow.run(1, until=after_round(number))
            rates.append(flow.rate)
        assert all(after > 1.6 * before for before, after in pairwise(rates[:4]))
        assert rates[4] == pytest.approx(RATE, rel=0.01)  # eight times the first

    @pytest.mark.parametrize(("every", "leaves"), [(20, True), (200, False)])
    def test_a_loss_above_2_percent_ends_it_also_when_limited(self, cores: Path, every: int, leaves: bool) -> None:
        path = Link(rate=0.02, drop=lambda number: number > 500 and number % every == 0)
        flow = Flow(cores, path, limit=0.01).run(5, until=left(STARTUP))
        assert (flow.state.mode == DRAIN) == leaves
        assert flow.state.full_bw_now == flow.state.full_bw_reached == leaves
        assert (flow.state.inflight_longterm < INFINITY) == leaves

    def test_fewer_ranges_than_six_do_not_nor_does_no_loss_while_the_application_limits(self, cores: Path) -> None:
        path = Link(rate=0.02, drop=lambda number: 1000 <= number < 1100)
        flow = Flow(cores, path, Params(loss_ranges=200), limit=0.01).run(3, until=left(STARTUP))
        assert flow.state.mode == STARTUP

    def test_without_selective_acks_the_first_loss_of_a_fast_recovery_does(self, cores: Path) -> None:
        core = tcp_core(cores, 10, 40_000, sack=0)
        newest = Sent(0, 0, 10, 0)
        core.taken("on_ack", Ack(50_000, 1, 1, 8, 10, 1, 1, 40_000, 40_000, 40_000, 1, newest, 1, 1))
        assert core.state.mode == DRAIN

    def test_without_a_loss_it_lasts_while_the_application_limits(self, cores: Path) -> None:
        flow = Flow(cores, limit=RATE / 2).run(4.9, until=left(STARTUP))
        assert flow.state.mode == STARTUP
        assert flow.state.round_count > 100


@pytest.mark.parametrize(("mode", "share"), [(DRAIN, 0.5), (UP, 1.25), (DOWN, 0.9)])
def test_a_state_paces_at_its_share_of_the_bandwidth(cores: Path, mode: int, share: float) -> None:
    flow = in_mode(cores, mode)
    assert flow.state.pacing_rate == pytest.approx(share * 0.99 * flow.state.bw, rel=0.001)


class TestDrain:
    """Exiting DRAIN Based on Inflight; Based on Time."""

    def test_it_ends_when_the_bdp_is_in_flight(self, cores: Path) -> None:
        flow = in_mode(cores, DRAIN).run(1, until=left(DRAIN))
        assert flow.state.mode in (DOWN, CRUISE)
        assert flow.inflight <= BDP

    def test_after_three_rounds_it_ends_in_any_case(self, cores: Path) -> None:
        flow = in_mode(cores, DRAIN)
        flow.path.rate *= 0.3
        begin = flow.state.round_count
        flow.run(2, until=left(DRAIN))
        assert flow.state.round_count == begin + 4
        assert flow.inflight > BDP


class TestBandwidth:
    """Increasing Bandwidth 10x; Decreasing it 10x; Correctly Managing Sub-Packet BDPs."""

    def test_ten_times_more_is_found_and_ten_times_less_taken_over_in_some_cycles(self, cores: Path) -> None:
        flow = in_mode(cores, CRUISE, Link(rate=RATE / 10))
        flow.path.rate = RATE
        flow.run(15, until=lambda flow: flow.rate > 0.95 * RATE)
        assert flow.rate > 0.95 * RATE
        flow = in_mode(cores, CRUISE, Link(buffer_pkts=30))
        flow.path.rate = RATE / 10
        flow.run(0.5)
        assert flow.state.bw_shortterm < 0.75 * RATE * 2**24
        flow.run(8)
        assert flow.rate == pytest.approx(RATE / 10, rel=0.05)

    def test_the_window_is_four_packets_at_least(self, cores: Path) -> None:
        flow = Flow(cores, Link(rate=0.00004, rtt_us=5000))  # a fifth of a packet
        flow.run(12, until=lambda flow: flow.cwnd < 4)
        assert flow.cwnd >= 4
        assert flow.delivered > 0.95 * 12e6 * flow.path.rate


class TestAggregation:
    """Achieving Expected Bandwidth on a Link With Aggregation."""

    def test_what_comes_at_once_is_added_to_the_window(self, cores: Path) -> None:
        core = tcp_core(cores, 200, 40_000)
        core.state.bw, core.state.full_bw_reached = int(RATE * 2**24), True
        core.state.max_bw_of[0], core.state.mode = core.state.bw, CRUISE
        core.state.cycle_us_at = core.state.probe_rtt_min_us_at = 80_000
        core.state.wait_us = 2_000_000
        newest = Sent(0, 0, 100, 0)
        ack = Ack(80_000, 60, 0, 40, 200, 60, 0, 40_000, 40_000, 40_000, 1, newest, 1, 0)
        window = core.taken("on_ack", ack)
        assert core.state.extra_acked == 60
        assert window == 2 * BDP - 1 + 60


class TestSpurious:
    """Handling Spurious Fast Recovery; Spurious RTO Recovery."""

    def test_what_a_recovery_ended_begins_again_where_it_was_spurious(self, cores: Path) -> None:
        flow = in_mode(cores, CRUISE)
        flow.state.bw_shortterm, flow.state.inflight_shortterm = 2**60, 500
        flow.core.lib.bbr3_enter_recovery(flow.state, 200, flow.delivered)
        flow.state.bw_shortterm, flow.state.inflight_shortterm = 5, 5
        assert flow.core.lib.bbr3_spurious(flow.state, 4, flow.delivered) == 200
        assert (flow.state.bw_shortterm, flow.state.inflight_shortterm) == (2**60, 500)
        flow = in_mode(cores, UP)
        lose_ten(flow)
        flow.run(1, until=left(UP))
        flow.core.lib.bbr3_spurious(flow.state, 4, flow.delivered)
        assert flow.state.mode == REFILL
        path = Link(rate=0.02, drop=lambda number: number > 500 and number % 20 == 0)
        flow = Flow(cores, path, limit=0.01).run(5, until=left(STARTUP))
        flow.core.lib.bbr3_spurious(flow.state, 4, flow.delivered)
        assert (flow.state.mode, flow.state.full_bw_reached) == (STARTUP, False)


def test_the_link_is_full_and_the_queue_short(cores: Path) -> None:
    flow = Flow(cores).run(20)
    assert flow.delivered > 0.95 * 20e6 * RATE
    assert flow.lost == 0
    assert flow.state.min_rtt_us == pytest.approx(40_000, abs=600)


numbers = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(acks=st.lists(st.tuples(*[numbers] * 8), min_size=1, max_size=60), sack=st.integers(0, 1))
def test_no_mixture_of_values_leads_below_four_packets(cores: Path, acks: list[tuple[int, ...]], sack: int) -> None:
    """Nor to a division by zero: the library would end the process."""
    core = tcp_core(cores, 10, 0, sack=sack)
    now_us = 0
    for delivered, lost, inflight, cwnd, rtt_us, interval_us, sent, wait_us in acks:
        now_us += wait_us
        newest = Sent(sent, lost // 2, inflight, delivered % 2)
        flags = lost % 2, newest, cwnd % 2, inflight % 2
        ack = Ack(
            now_us, delivered, lost, inflight, cwnd, sent % 100, lost % 7, rtt_us, rtt_us, interval_us, *flags
        )  # fmt: skip
        assert core.taken("on_ack", ack) >= 4
        assert core.state.quantum >= 2
