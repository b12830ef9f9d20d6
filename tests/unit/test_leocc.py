# SPDX-License-Identifier: GPL-2.0-or-later
"""LeoCC's core does what the descriptions of its paper (SIGCOMM 2025) and of its draft say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import bbr3
from tests.bbr3 import RATE_ONE, OfBbr
from tests.bbr3 import Params as BbrParams
from tests.c_core import Core as CCore
from tests.c_core import content, new
from tests.paced_flow import Link

ONE = 1 << 16  # of the filter's variance
BBR = BbrParams()


@dataclass(frozen=True)
class Params:
    """struct leocc_params: the module's defaults."""

    period_ms: int = 15_000
    offset_ms: int = 15_000
    fluctuation_us: int = 10_000
    bbr: BbrParams = BBR


class Core(CCore):
    def __init__(self, library: Path, srtt_us: int, params: Params = Params()) -> None:
        super().__init__(library, "leocc", params)
        self.lib.leocc_begin(self.state, new("bbr3_start", 0, 1, 45, 3, 10, srtt_us, 0, 1, 7))

    def queues(self, srtt_us: int) -> bool:
        return bool(self.taken("queues", srtt_us))


class Flow(OfBbr):
    core: Core

    def __init__(self, library: Path, path: Link | None = None, params: Params = Params()) -> None:
        path = path or Link()
        self.core = Core(library, path.rtt_us, params)
        self.state = self.bbr = self.core.state.bbr
        super().__init__(path)

    @property
    def bandwidth(self) -> float:
        """What it sends by, in packets per microsecond."""
        return float(self.bbr.bw) / RATE_ONE

    @property
    def filtered(self) -> float:
        """What the Kalman filter has, in packets per microsecond."""
        return float(self.core.state.kalman_rate) / RATE_ONE


RATE = 0.002  # packets per microsecond
RTT_US = 40_000
SOON = Params(offset_ms=4000)  # after Startup, and before any ProbeRTT


def changed(library: Path, rate: float = RATE, rtt_us: int = RTT_US, params: Params = SOON, wait_s: float = 0) -> Flow:
    flow = Flow(library, Link(), params).run(4)
    flow.path.rate, flow.path.rtt_us = rate, rtt_us
    return flow.run(wait_s)


def bounded(flow: Flow) -> bool:
    """Whether a loss has lowered a bound of BBR's."""
    return bool(min(flow.bbr.inflight_shortterm, flow.bbr.inflight_longterm) < bbr3.INFINITY)


class TestReconfigurations:
    """Instants by parameter: offset from the flow's begin, then one each period."""

    def begins(self, library: Path, params: Params, seconds: int) -> list[int]:
        """The milliseconds of a flow's reconfigurations."""
        found: list[int] = []
        flow = Flow(library, Link(rate=0.0005), params)
        for _ in range(seconds * 10):
            flow.run(0.1)
            at_ms = flow.core.state.last_us // 1000
            if at_ms not in (0, *found):
                found.append(at_ms)
        return found

    def test_the_first_one_is_at_the_offset_and_the_next_after_a_period(self, cores: Path) -> None:
        params = Params(period_ms=2000, offset_ms=1500)
        assert self.begins(cores, params, 8) == [1500, 3500, 5500, 7500]

    def test_without_a_period_there_is_none(self, cores: Path) -> None:
        assert self.begins(cores, Params(period_ms=0, offset_ms=100), 3) == []


class TestThePathAfterAReconfiguration:
    """A phase boundary: what was known of the path before does not hold."""

    def test_a_longer_least_round_trip_is_known_in_two_rounds(self, cores: Path) -> None:
        flow = changed(cores, rtt_us=60_000, wait_s=0.4)
        assert flow.bbr.min_rtt_us == pytest.approx(60_000, rel=0.3)  # and a queue
        assert flow.bbr.min_rtt_us >= 60_000

    def test_bbr_keeps_the_shorter_one(self, cores: Path) -> None:
        flow = changed(cores, rtt_us=60_000, params=Params(period_ms=0), wait_s=0.4)
        assert flow.bbr.min_rtt_us < 42_000

    @pytest.mark.parametrize("share", [0.5, 2.0])
    def test_the_bandwidth_is_the_new_ones_within_a_second(self, cores: Path, share: float) -> None:
        flow = changed(cores, rate=share * RATE, wait_s=1)
        assert flow.rate == pytest.approx(share * RATE, rel=0.25)

    def test_bbr_keeps_the_higher_bandwidth_of_the_path_before(self, cores: Path) -> None:
        flow = changed(cores, rate=0.5 * RATE, params=Params(period_ms=0), wait_s=1)
        assert flow.rate == pytest.approx(RATE, rel=0.05)

    def test_it_probes_for_bandwidth_at_once(self, cores: Path) -> None:
        flow = changed(cores, wait_s=0.5)
        assert any(4_000_000 < begin < 4_300_000 for begin, _ in flow.visits(bbr3.REFILL))


class TestLossesAtAReconfiguration:
    """Until the path is known again, a loss is no congestion."""

    def lossy(self, library: Path, period_ms: int) -> Flow:
        """A third is lost for 20 ms while BBR probes for bandwidth, which is when a reconfiguration is due."""
        probes_us = Flow(library, Link(), Params(period_ms=0)).run(20, until=lambda flow: flow.mode == bbr3.UP).now_us
        flow = Flow(library, Link(), Params(period_ms, offset_ms=probes_us // 1000))
        flow.path.drop = lambda number: number % 3 == 0 and probes_us <= flow.now_us < probes_us + 20_000
        return flow.run(probes_us / 1e6 + 0.15, until=bounded)

    def test_they_lower_no_bound(self, cores: Path) -> None:
        flow = self.lossy(cores, 15_000)
        assert flow.lost > 5
        assert not bounded(flow)

    def test_of_bbr_they_do(self, cores: Path) -> None:
        assert bounded(self.lossy(cores, 0))


class TestTheFilteredRate:
    """Where the round trip is above the least one by more than its fluctuation, the bandwidth is the filter's."""

    @pytest.mark.parametrize(("above_us", "queues"), [(0, False), (10_000, False), (10_001, True)])
    def test_the_fluctuation_is_a_parameter(self, cores: Path, above_us: int, queues: bool) -> None:
        core = Core(cores, 100_000)
        assert core.queues(100_000 + above_us) == queues

    def test_the_filter_follows_the_rate(self, cores: Path) -> None:
        flow = Flow(cores, Link(), Params(period_ms=0)).run(3)
        assert flow.filtered == pytest.approx(RATE, rel=0.05)

    def test_its_gain_settles_below_a_quarter(self, cores: Path) -> None:
        """q / r of 1/16 leaves a variance of 0.22 measurements: x^2 + x/16 = 1/16; here while the path gets slower."""
        flow = Flow(cores, Link(), Params(period_ms=0, fluctuation_us=1_000_000)).run(3)
        for _ in range(40):
            flow.path.rate *= 0.97
            flow.run(0.1)
        assert flow.core.state.variance / ONE == pytest.approx(0.2207, abs=0.01)

    def test_it_does_not_lower_itself_where_the_round_trip_always_shows_a_queue(self, cores: Path) -> None:
        """The path is longer than the least round trip by more than the fluctuation, with or without a queue."""
        flow = Flow(cores, Link(), Params(period_ms=0)).run(3)
        flow.path.rtt_us = 60_000
        flow.run(6)
        assert flow.core.queues(60_000)
        assert flow.bandwidth > 0.9 * RATE

    def test_with_a_queue_it_bounds_the_bandwidth(self, cores: Path) -> None:
        """The link has become slower, of which the filter of the most does not know yet."""
        flow = changed(cores, rate=0.5 * RATE, params=Params(period_ms=0), wait_s=0.7)
        assert flow.bandwidth < 0.7 * flow.rate

    def test_a_large_fluctuation_leaves_it_to_the_filter_of_the_most(self, cores: Path) -> None:
        params = Params(period_ms=0, fluctuation_us=1_000_000)
        flow = changed(cores, rate=0.5 * RATE, params=params, wait_s=0.7)
        assert flow.bandwidth == pytest.approx(flow.rate, rel=0.01)


class TestBbr:
    """All else is BBR's."""

    def test_without_reconfigurations_and_queues_it_is_bbr_ack_for_ack(self, cores: Path) -> None:
        params = Params(period_ms=0, fluctuation_us=1_000_000)
        leocc, bbr = Flow(cores, Link(), params).run(8), bbr3.Flow(cores, Link()).run(8)
        assert content(leocc.bbr) == content(bbr.state[0])
        assert leocc.modes == bbr.modes


@pytest.mark.parametrize(
    "wrong",
    [{"period_ms": 3600001}, {"offset_ms": 3600001}, {"fluctuation_us": 1000001}, {"bbr": bbr3.Params(loss_pct=0)}],
)
def test_parameters_out_of_range_are_known_as_such(cores: Path, wrong: dict[str, Any]) -> None:
    assert Core(cores, RTT_US).valid()
    assert not Core(cores, RTT_US, Params(**wrong)).valid()
