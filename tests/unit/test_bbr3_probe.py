# SPDX-License-Identifier: GPL-2.0-or-later
"""BBR version 3's core probes as its draft says: the classes are the draft's test cases of the states after DRAIN."""

from itertools import pairwise
from pathlib import Path

import pytest

from tests.bbr3 import (
    BDP,
    CRUISE,
    DOWN,
    INFINITY,
    PROBE_RTT,
    RATE,
    REFILL,
    STARTUP,
    UP,
    Flow,
    after_round,
    in_mode,
    left,
    lose_ten,
)  # fmt: skip
from tests.paced_flow import Link


class TestUp:
    """Exiting PROBE_UP on Bandwidth Plateau; on Loss When Application-Limited; never without either."""

    def test_a_plateau_ends_it(self, cores: Path) -> None:
        flow = in_mode(cores, UP).run(2, until=left(UP))
        assert flow.state.mode == DOWN
        assert flow.state.full_bw_now
        assert flow.lost == 0

    @pytest.mark.parametrize("app_limited", [False, True])
    def test_a_loss_above_2_percent_ends_it(self, cores: Path, app_limited: bool) -> None:
        flow = in_mode(cores, UP)
        flow.limit = 0.9 * RATE if app_limited else 0
        flow.run(0.03)
        lose_ten(flow)
        flow.run(1, until=left(UP))
        assert flow.state.mode == DOWN
        assert flow.state.too_high
        assert (flow.state.inflight_longterm == INFINITY) == app_limited  # the draft's function spares it then

    def test_without_a_loss_it_lasts_while_the_application_limits(self, cores: Path) -> None:
        flow = in_mode(cores, UP)
        flow.limit = 0.5 * RATE
        flow.run(1.5, until=left(UP))
        assert flow.state.mode == UP

    def test_a_loss_after_inflight_longterm_is_set_lowers_it_by_beta_at_most(self, cores: Path) -> None:
        """Handling Loss During PROBE_UP After inflight_longterm is Set."""
        flow = in_mode(cores, UP, Link(buffer_pkts=30))
        before = flow.state.inflight_longterm
        assert before < INFINITY
        flow.state.too_high = False
        lose_ten(flow)
        flow.run(1, until=left(UP))
        assert flow.state.mode == DOWN
        assert 0.69 * BDP <= flow.state.inflight_longterm <= before

    def test_inflight_longterm_grows_by_twice_as_much_each_round(self, cores: Path) -> None:
        flow = in_mode(cores, UP)
        slopes = []
        for number in range(4):
            flow.state.inflight_longterm = flow.cwnd = 40
            begin = flow.state.round_count
            flow.run(1, until=after_round(begin))
            slopes.append(flow.state.up_acked_per_inc)
            assert flow.state.up_rounds == number + 2
        assert [round(slopes[0] / slope) for slope in slopes] == [1, 2, 4, 8]

    def test_a_probe_after_one_that_lost_ends_at_inflight_longterm_and_the_next_follows(self, cores: Path) -> None:
        flow = in_mode(cores, UP)
        flow.state.too_high, flow.state.inflight_longterm = True, 90
        flow.run(1, until=left(UP))
        assert (flow.state.mode, flow.state.precautionary, flow.state.too_high) == (DOWN, True, False)
        begin_us = flow.now_us
        flow.run(1, until=lambda flow: flow.state.mode == REFILL)
        assert flow.now_us - begin_us < 2.5 * 40_000


class TestDown:
    """Exiting PROBE_DOWN on Inflight; After Max Time."""

    def test_it_ends_when_the_bdp_is_in_flight(self, cores: Path) -> None:
        flow = in_mode(cores, UP).run(2, until=left(UP)).run(2, until=left(DOWN))
        assert flow.state.mode == CRUISE
        assert flow.inflight <= BDP

    def test_headroom_below_inflight_longterm_is_left(self, cores: Path) -> None:
        flow = in_mode(cores, UP, Link(buffer_pkts=3)).run(8, until=lambda flow: flow.state.mode == CRUISE)
        assert flow.state.inflight_longterm < BDP / 0.85
        assert flow.inflight <= 0.85 * flow.state.inflight_longterm + 1  # whole packets

    def test_after_its_wait_a_refill_follows_without_a_cruise(self, cores: Path) -> None:
        flow = in_mode(cores, UP).run(2, until=left(UP))
        flow.path.rate *= 0.5
        flow.state.probe_rtt_min_us_at = flow.now_us  # ProbeRTT comes later
        flow.run(4, until=left(DOWN))
        assert flow.state.mode == REFILL
        (begin_us, end_us) = flow.visits(DOWN)[-1]
        assert end_us - begin_us <= flow.state.wait_us + 200_000

    def test_the_wait_is_two_to_three_seconds_or_as_many_rounds_as_reno_needs(self, cores: Path) -> None:
        flow = Flow(cores).run(60)
        begins = [at for at, mode in flow.modes if mode == REFILL]
        waits = [after - before for before, after in pairwise(begins)]
        assert min(waits) > 2_000_000
        assert len(set(waits)) > 5


class TestRefill:
    """Handling Application-Limited Sending During PROBE_REFILL."""

    def test_low_samples_that_the_application_limits_do_not_count(self, cores: Path) -> None:
        flow = in_mode(cores, REFILL)
        before = flow.rate
        flow.limit = 0.2 * RATE
        flow.run(1, until=left(REFILL))
        assert flow.state.mode == UP
        assert flow.rate == pytest.approx(before)

    def test_it_lasts_a_round_without_the_short_term_bounds(self, cores: Path) -> None:
        flow = in_mode(cores, CRUISE)
        flow.state.inflight_shortterm = 50
        flow.run(5, until=left(CRUISE))
        assert (flow.state.mode, flow.state.inflight_shortterm) == (REFILL, INFINITY)
        flow.run(1, until=left(REFILL))
        (begin_us, end_us) = flow.visits(REFILL)[0]
        assert end_us - begin_us == pytest.approx(40_000, rel=0.1)


class TestProbeRtt:
    """Entering and Exiting PROBE_RTT; Skipping it; Entering and Exiting it During STARTUP."""

    def test_it_comes_after_five_seconds_with_half_a_bdp_for_200_ms_and_returns(self, cores: Path) -> None:
        flow = in_mode(cores, PROBE_RTT)
        assert 5_000_000 < flow.now_us < 5_200_000
        flow.run(0.1)
        assert flow.cwnd == pytest.approx(BDP / 2, abs=1)
        flow.run(1, until=left(PROBE_RTT))
        (begin_us, end_us) = flow.visits(PROBE_RTT)[0]
        assert 200_000 <= end_us - begin_us < 300_000
        assert flow.state.mode == CRUISE
        assert flow.run(0.2).cwnd > BDP

    def test_idleness_stands_for_it(self, cores: Path) -> None:
        flow = in_mode(cores, CRUISE)
        flow.limit = 0.9 * RATE
        flow.run(0.5)
        flow.paused = True
        flow.run(6)
        assert flow.inflight == 0
        flow.paused = False
        flow.run(0.02)
        assert flow.state.idle_restart
        flow.run(1)
        assert not flow.visits(PROBE_RTT)

    def test_out_of_startup_it_leads_back_to_startup(self, cores: Path) -> None:
        flow = Flow(cores, limit=RATE / 4).run(10, until=lambda flow: len(flow.modes) == 3)
        assert [mode for _, mode in flow.modes] == [STARTUP, PROBE_RTT, STARTUP]
        assert not flow.state.full_bw_reached

    def test_a_lower_round_trip_postpones_it(self, cores: Path) -> None:
        flow = Flow(cores).run(4)
        flow.path.rtt_us -= 5000
        flow.run(4)
        assert not flow.visits(PROBE_RTT)
        assert flow.state.min_rtt_us < 40_000
