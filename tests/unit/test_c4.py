# SPDX-License-Identifier: GPL-2.0-or-later
"""C4's core does what each section of its draft says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.c4 import CRUISING, INITIAL, ONE, PROBING, PUSHING, RECOVERY, Ack, Core, Flow
from tests.paced_flow import Link

RATE = 0.002  # packets per microsecond


def shallow() -> Link:
    return Link(buffer_pkts=40)


def in_mode(library: Path, mode: int, path: Link | None = None) -> Flow:
    return Flow(library, path or shallow()).run(20, until=lambda flow: flow.mode == mode)


def left(mode: int) -> Callable[[Flow], bool]:
    return lambda flow: flow.mode != mode


def cruising(library: Path) -> Core:
    """A flow of 10 MB/s whose nominal max RTT is 64 ms: delay above 68 ms is congestion."""
    core = Core(library)
    core.state.mode, core.state.alpha = CRUISING, 32
    core.state.nominal_Bps, core.state.nominal_rtt_us = 10_000_000, 64_000
    return core


@pytest.fixture
def core(cores: Path) -> Core:
    return cruising(cores)


def ack(**fields: int) -> Any:
    return Ack(**{"rtt_us": 60_000, "delivered": 1, "acked_pkts": 1, "inflight_bytes": 1500, **fields})


class TestNominalRate:
    """The largest measured; congestion alone lowers it."""

    @pytest.mark.parametrize(("measured", "after"), [(9_000_000, 10_000_000), (11_000_000, 11_000_000)])
    def test_measurements_only_raise_it(self, core: Core, measured: int, after: int) -> None:
        core.take(ack(rate_Bps=measured))
        assert core.state.nominal_Bps == after

    @pytest.mark.parametrize("congested", [False, True])
    def test_nothing_raises_it_in_a_recovery_with_congestion(self, core: Core, congested: bool) -> None:
        core.state.mode, core.state.congested = RECOVERY, congested
        core.take(ack(rate_Bps=11_000_000))
        assert (core.state.nominal_Bps == 10_000_000) == congested


class TestNominalMaxRtt:
    """That of eras at no more than the nominal rate; an eighth downwards, upwards at once, within 250 ms."""

    @pytest.mark.parametrize(
        ("rtt_us", "last_alpha", "after_us"),
        [(56_000, 32, 63_000), (66_000, 32, 66_000), (66_000, 34, 64_000), (56_000, 40, 64_000)],
    )
    def test_an_era_moves_it(self, core: Core, rtt_us: int, last_alpha: int, after_us: int) -> None:
        core.state.last_alpha, core.state.running_min_us = last_alpha, 40_000
        core.take(ack(rtt_us=rtt_us, has_data=1))
        assert core.state.nominal_rtt_us == after_us

    def test_jitter_counts_up_to_250_ms(self, core: Core) -> None:
        core.state.running_min_us, core.state.nominal_rtt_us = 40_000, 280_000
        core.state.last_alpha = 30
        core.take(ack(rtt_us=40_000))
        core.take(ack(rtt_us=296_000, has_data=1))
        assert core.state.nominal_rtt_us == 290_000


class TestInitial:
    """Alpha 2; three eras without growth end it, delay or marks after two, loss after 20 packets."""

    def test_the_window_is_ten_packets_and_the_rate_128_kilobytes_per_second_at_least(self, cores: Path) -> None:
        core = Core(cores)
        assert (core.state.cwnd_bytes, core.pacing_bytes_per_s) == (15_000, 0)
        core = Core(cores)
        core.take(ack(rate_Bps=1000))
        assert core.pacing_bytes_per_s == 131_072

    @pytest.mark.parametrize(("still_eras", "grown"), [(0, 1500), (1, 187), (2, 23)])
    def test_the_window_grows_by_an_eighth_for_each_still_era(self, cores: Path, still_eras: int, grown: int) -> None:
        core = Core(cores)
        core.state.still_eras = still_eras
        core.take(ack())
        assert core.state.initial_cwnd_bytes == 15_000 + grown

    def test_three_eras_without_growth_end_it_unless_the_application_limits_them(self, cores: Path) -> None:
        flow = Flow(cores, Link(buffer_pkts=10_000)).run(10, until=left(INITIAL))
        assert flow.mode == RECOVERY
        assert flow.rate == pytest.approx(RATE, rel=0.01)
        assert flow.lost == 0
        flow = Flow(cores, limit=RATE / 2).run(5)
        assert flow.mode == INITIAL

    @pytest.mark.parametrize(("still_eras", "mode"), [(1, INITIAL), (2, RECOVERY)])
    def test_delay_ends_it_after_two_still_eras(self, core: Core, still_eras: int, mode: int) -> None:
        core.state.mode, core.state.still_eras = INITIAL, still_eras
        core.take(ack(rtt_us=200_000))
        assert core.state.mode == mode
        assert core.state.nominal_Bps == 10_000_000

    @pytest.mark.parametrize(("acked", "mode"), [(20, INITIAL), (21, RECOVERY)])
    def test_loss_ends_it_after_20_packets(self, core: Core, acked: int, mode: int) -> None:
        core.state.mode = INITIAL
        core.take(ack(acked_pkts=acked, lost_pkts=5))
        assert core.state.mode == mode

    def test_at_its_end_half_the_window_at_the_nominal_rate_is_the_nominal_max_rtt(self, core: Core) -> None:
        core.state.mode, core.state.still_eras, core.state.cwnd_bytes = INITIAL, 2, 1_000_000
        core.take(ack(rtt_us=200_000))
        assert core.state.nominal_rtt_us == 50_000


class TestRecovery:
    """15/16 for an era, 7/8 where a queue stands; then Cruising, Pushing or Initial."""

    def test_it_ends_with_the_first_packet_sent_in_it(self, cores: Path) -> None:
        flow = in_mode(cores, RECOVERY)
        first = flow.number
        acknowledged: list[int] = []

        def over(flow: Flow) -> bool:
            acknowledged.append(flow.under_way[0].number)
            return flow.mode != RECOVERY

        flow.run(1, until=over)
        assert acknowledged[-1] == first + 1

    @pytest.mark.parametrize(("inflight_bytes", "alpha"), [(640_000, 30), (640_001, 28)])
    def test_more_than_a_bdp_in_flight_is_drained(self, core: Core, inflight_bytes: int, alpha: int) -> None:
        core.state.mode = PROBING
        core.take(ack(rtt_us=68_001, inflight_bytes=inflight_bytes))
        assert core.state.alpha == alpha

    def test_high_jitter_begins_initial_again_once(self, core: Core) -> None:
        for expected in (INITIAL, CRUISING):
            core.state.mode, core.state.running_min_us = RECOVERY, 20_000
            core.take(ack(has_data=1, sent_delivered=1))
            assert core.state.mode == expected

    def test_two_with_congestion_in_a_row_take_the_recent_rate(self, core: Core) -> None:
        core.state.running_min_us = 60_000
        for nominal in (10_000_000, 6_000_000):
            core.state.mode, core.state.congested = RECOVERY, True
            core.take(ack(rate_Bps=6_000_000, has_data=1, sent_delivered=1))
            assert core.state.nominal_Bps == nominal

    def test_a_rate_that_did_not_grow_in_a_cycle_is_trimmed(self, core: Core) -> None:
        core.state.mode, core.state.came_from, core.state.running_min_us = RECOVERY, PROBING, 60_000
        core.state.cycle_begin_Bps = core.state.probe_begin_Bps = 10_000_000
        core.take(ack(rate_Bps=9_000_000, has_data=1))
        assert core.state.nominal_Bps == 9_500_000


class TestCycle:
    """Cruising for two eras, Probing by a sixteenth for one, Pushing by a quarter while it grows."""

    def test_cruising_lasts_two_eras_and_probing_one(self, cores: Path) -> None:
        flow = in_mode(cores, PROBING)
        assert flow.state.alpha == 34
        flow.run(1, until=left(PROBING)).run(1, until=left(RECOVERY))
        (cruise_us, cruised_us), (probe_us, probed_us) = flow.visits(CRUISING)[0], flow.visits(PROBING)[0]
        assert cruised_us - cruise_us == pytest.approx(2 * 40_000, rel=0.1)
        assert probed_us - probe_us == pytest.approx(40_000, rel=0.1)

    def test_after_marks_it_probes_by_half_as_much(self, cores: Path) -> None:
        flow = in_mode(cores, CRUISING)
        flow.marks = 1
        flow.run(0.001).marks = 0
        flow.run(1, until=lambda flow: flow.mode == PROBING)
        assert flow.state.alpha == 33

    def test_a_link_that_becomes_faster_is_pushed_until_it_is_full(self, cores: Path) -> None:
        path = shallow()
        flow = in_mode(cores, CRUISING, path).run(1)
        path.rate, path.buffer_pkts = 3 * RATE, 120
        flow.run(4)
        assert flow.visits(PUSHING)
        assert flow.rate == pytest.approx(3 * RATE, rel=0.05)

    def test_a_push_of_more_than_three_eras_begins_initial_again(self, core: Core) -> None:
        core.state.mode, core.state.alpha, core.state.running_min_us = PUSHING, 40, 60_000
        for number in range(4):
            assert core.state.mode == PUSHING
            rate = int(10_000_000 * 1.2 ** (number + 1))
            core.take(ack(rate_Bps=rate, delivered=number + 1, sent_delivered=number, has_data=1))
        assert core.state.mode == INITIAL


class TestCongestion:
    """Only in Cruising is the rate reduced; in recovery it is noted."""

    @pytest.mark.parametrize("mode", [PROBING, PUSHING])
    def test_a_probe_that_finds_congestion_costs_no_rate(self, core: Core, mode: int) -> None:
        core.state.mode = mode
        core.take(ack(rtt_us=100_000))
        assert (core.state.mode, core.state.nominal_Bps) == (RECOVERY, 10_000_000)

    def test_losses_are_averaged_over_16_packets_and_a_slow_flow_bears_more(self, cores: Path) -> None:
        core = cruising(cores)
        core.take(ack(lost_pkts=1))
        assert (core.state.mode, core.state.nominal_Bps) == (RECOVERY, 7_500_000)
        assert core.state.smoothed_loss == ONE // 16 * 15 // 16
        core = cruising(cores)
        core.state.nominal_Bps = 50_000
        core.take(ack(lost_pkts=3, rtt_us=79_000))
        assert core.state.mode == CRUISING

    @pytest.mark.parametrize(
        ("marked", "able", "mode", "after"), [(1, 9, CRUISING, 10_000_000), (1, 0, RECOVERY, 7_500_000)]
    )
    def test_marks_are_averaged_unless_half(self, core: Core, marked: int, able: int, mode: int, after: int) -> None:
        core.take(ack(ce_pkts=marked, ect_pkts=able))
        assert (core.state.mode, core.state.nominal_Bps) == (mode, after)

    def test_in_recovery_it_is_noted(self, core: Core) -> None:
        core.state.mode, core.state.era_delivered = RECOVERY, 100
        core.take(ack(rtt_us=100_000))
        assert core.state.congested
        assert core.state.nominal_Bps == 10_000_000


class TestWindow:
    """Alpha times the rate, for the nominal max RTT and a margin of a quarter of it or 15 ms."""

    @pytest.mark.parametrize(("rtt_us", "cwnd_bytes"), [(64_000, 790_000), (40_000, 500_000)])
    def test_the_margin(self, core: Core, rtt_us: int, cwnd_bytes: int) -> None:
        core.state.nominal_rtt_us = rtt_us
        core.take(ack(rtt_us=rtt_us // 2))
        assert (core.state.cwnd_bytes, core.pacing_bytes_per_s) == (cwnd_bytes, 10_000_000)

    def test_two_packets_are_the_least(self, core: Core) -> None:
        core.state.nominal_Bps = 1
        core.take(ack())
        assert core.state.cwnd_bytes == 3000


def test_the_link_is_full(cores: Path) -> None:
    flow = Flow(cores, shallow()).run(20)
    assert flow.delivered > 0.95 * 20e6 * RATE
    assert flow.lost < 0.01 * flow.delivered


numbers = st.integers(0, 2**32 - 1)


@settings(deadline=None)
@given(acks=st.lists(st.tuples(st.integers(0, 2**64 - 1), *[numbers] * 6), min_size=1, max_size=60))
def test_no_mixture_of_values_leads_below_two_packets(cores: Path, acks: list[tuple[int, ...]]) -> None:
    core = Core(cores)
    for rate, rtt_us, delivered, sent, acked, lost, marked in acks:
        flags = rtt_us % 2, acked % 50, lost % 5, marked % 3, marked % 7, sent, acked % 2
        core.take(Ack(rate, rtt_us, delivered, sent, *flags))
        assert 3000 <= core.state.cwnd_bytes <= 2**30
        assert core.state.smoothed_loss <= ONE
        assert core.state.ecn_alpha <= ONE
