# SPDX-License-Identifier: GPL-2.0-or-later
"""SUSS's core does what its abstract (SIGCOMM 2024) and the notes on the published sender say."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.c_core import Core as CCore
from tests.c_core import new

MSS_BYTES = 1000


@dataclass(frozen=True)
class Params:
    """struct suss_params: the module's defaults."""

    k_max: int = 1
    least_rtt_us: int = 10_000


class Core(CCore):
    """One flow of suss_core.c, each of whose ACKs is for one packet of 1000 bytes."""

    def __init__(self, library: Path, params: Params = Params(), snd_nxt: int = 0, window_pkts: int = 10) -> None:
        super().__init__(library, "suss", params)
        self.lib.suss_begin(self.state, snd_nxt)
        self.una, self.nxt, self.now_us = snd_nxt, snd_nxt + window_pkts * MSS_BYTES, 1_000_000
        self.cwnd = window_pkts

    def ack(self, after_us: int = 0, rtt_us: int = 100_000, limited: bool = True, pkts: int = 1) -> int:
        """Take an ACK, grow and send as slow start does; return what SUSS grants in addition."""
        self.now_us += after_us
        self.una += pkts * MSS_BYTES
        values = (self.now_us, self.una, self.nxt, rtt_us, MSS_BYTES, int(limited))
        more = int(self.taken("on_ack", new("suss_ack", *(value % 2**32 for value in values))))
        self.cwnd += pkts + more
        self.nxt = self.una + self.cwnd * MSS_BYTES
        return more

    def round(self, train_us: int = 900, rtt_us: int = 100_000, limited: bool = True) -> list[int]:
        """Take the ACKs of all in flight, clocked ones in a train, then those of paced packets; return the grants."""
        begin_us, count = self.now_us, (self.nxt - self.una) // MSS_BYTES
        state, granted = self.state, [self.ack(0, rtt_us, limited)]
        clocked = max((state.clocked_end - state.round_begin) % 2**32 // MSS_BYTES, 2)
        for number in range(1, count):
            gap_us = train_us // (clocked - 1) if number < clocked else 100
            granted.append(self.ack(gap_us, rtt_us, limited))
        self.now_us = max(begin_us + rtt_us, self.now_us)
        return granted


RTT_US = 100_000


class TestGrowth:
    """Growth is accelerated when exponential growth is predicted to continue in the next round."""

    def test_the_window_quadruples_each_round_trip_until_the_next_rounds_train_is_too_long(self, cores: Path) -> None:
        """A packet lasts 0.1 ms on the link: 640 of them 64 ms."""
        core = Core(cores)
        windows = []
        for clocked_pkts in (10, 18, 34, 66):
            core.round(train_us=100 * (clocked_pkts - 1))
            windows.append(core.cwnd)
        assert windows == [40, 160, 640, 1280]

    @pytest.mark.parametrize(("k_max", "window"), [(0, 20), (1, 40), (2, 80), (3, 160)])
    def test_k_is_a_parameter(self, cores: Path, k_max: int, window: int) -> None:
        core = Core(cores, Params(k_max=k_max))
        core.round(train_us=900)
        assert core.cwnd == window

    def test_more_is_granted_once_a_round_as_the_last_clocked_packet_is_acknowledged(self, cores: Path) -> None:
        assert Core(cores).round() == [0] * 9 + [20]

    def test_a_sender_that_the_window_does_not_limit_has_no_more(self, cores: Path) -> None:
        assert sum(Core(cores).round(limited=False)) == 0

    def test_sequence_numbers_wrap(self, cores: Path) -> None:
        core = Core(cores, snd_nxt=2**32 - 25_000)
        core.round()
        core.round()
        assert core.cwnd == 160


class TestTheTrainOfAcks:
    """Shorter than a quarter of the least round trip, so that the next round's is within half of it."""

    @pytest.mark.parametrize(("train_us", "more_pkts"), [(9_000, 20), (24_993, 20), (25_200, 0), (90_000, 0)])
    def test_a_quarter_is_the_end(self, cores: Path, train_us: int, more_pkts: int) -> None:
        assert sum(Core(cores).round(train_us)) == more_pkts

    def test_paced_packets_are_no_train(self, cores: Path) -> None:
        """Of 40 packets in flight 18 were clocked: 9 ACKs clocked out two each before the decision."""
        core = Core(cores)
        core.round()
        core.ack()
        assert (core.state.clocked_end - core.state.round_begin) // 1000 == 18

    def test_it_counts_by_the_share_of_the_window_that_was_clocked(self, cores: Path) -> None:
        """40 by 18 times 12 ms are 26.7 ms, times 11 ms are 24.4."""
        for train_us, grows in ((11_000, True), (12_000, False)):
            core = Core(cores)
            core.round()
            assert (sum(core.round(train_us)) > 0) == grows


class TestTheRoundTrip:
    def test_ten_milliseconds_are_too_short(self, cores: Path) -> None:
        assert sum(Core(cores).round(900, rtt_us=10_000)) == 0
        assert sum(Core(cores).round(900, rtt_us=10_001)) == 20
        assert sum(Core(cores, Params(least_rtt_us=0)).round(900, rtt_us=10_000)) == 20

    @pytest.mark.parametrize(("queue_us", "grows"), [(0, True), (6_250, True), (6_251, False), (50_000, False)])
    def test_a_queue_that_would_be_an_eighth_next_is_the_end(self, cores: Path, queue_us: int, grows: bool) -> None:
        core = Core(cores)
        core.round()
        assert (sum(core.round(5_000, RTT_US + queue_us)) > 0) == grows

    def test_it_goes_on_where_the_queue_has_gone(self, cores: Path) -> None:
        core = Core(cores)
        core.round()
        core.round(5_000, 2 * RTT_US)
        assert sum(core.round(5_000, RTT_US)) > 0


class TestHyStartStays:
    """Its train ends slow start when it is longer than half of the least round trip."""

    @pytest.mark.parametrize(("gap_us", "acks", "full"), [(1_000, 51, False), (1_000, 52, True), (2_001, 90, False)])
    def test_of_acks_no_more_than_two_milliseconds_apart(self, cores: Path, gap_us: int, acks: int, full: bool) -> None:
        core = Core(cores, Params(k_max=0), window_pkts=100)
        core.ack()
        for _ in range(acks - 1):
            core.ack(gap_us)
        assert bool(core.state.full) == full


@given(
    acks=st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**31 - 1), st.integers(0, 2**20)), max_size=60),
    k_max=st.integers(0, 3),
)
def test_any_stream_is_granted_what_its_flight_allows_at_most(
    cores: Path, acks: list[tuple[int, int, int]], k_max: int
) -> None:
    core = Core(cores, Params(k_max=k_max, least_rtt_us=0))
    for after_us, rtt_us, pkts in acks:
        assert core.ack(after_us, rtt_us, pkts=pkts) <= 2**24
        core.cwnd = min(core.cwnd, 2**20)


@pytest.mark.parametrize("wrong", [{"k_max": 4}, {"least_rtt_us": 1000001}])
def test_parameters_out_of_range_are_known_as_such(cores: Path, wrong: dict[str, int]) -> None:
    assert Core(cores).valid()
    assert not Core(cores, Params(**wrong)).valid()
