# SPDX-License-Identifier: GPL-2.0-or-later
"""BEST's core does what the descriptions of its paper (NetDev 0x16) say."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.best import SAMPLES, Core, median


class TestPairsOfAcks:
    """The rate is what the second ACK of a pair acknowledges, by the time between the two."""

    def test_a_packet_of_1000_bytes_in_a_millisecond_is_a_megabyte_per_second(self, cores: Path) -> None:
        core = Core(cores)
        core.round(1000, 500, 4000)
        assert list(core.state.rate_Bps[0 : core.state.samples]) == [1_000_000, 2_000_000, 250_000]

    def test_what_an_ack_acknowledges_counts(self, cores: Path) -> None:
        core = Core(cores)
        core.ack(0, 8000)
        core.ack(1000, 8000, acked_bytes=2000)
        assert core.state.rate_Bps[0] == 2_000_000

    def test_the_pause_between_two_rounds_is_no_pair(self, cores: Path) -> None:
        core = Core(cores)
        core.round(1000, 1000)
        core.round(1000, 1000, pause_us=90_000)
        assert list(core.state.rate_Bps[0 : core.state.samples]) == [1_000_000, 1_000_000]

    def test_an_ack_of_nothing_new_is_no_part_of_a_pair(self, cores: Path) -> None:
        core = Core(cores)
        core.ack(0, 8000)
        core.ack(500, 8000, acked_bytes=0)
        core.ack(500, 8000)
        assert list(core.state.rate_Bps[0 : core.state.samples]) == [1_000_000]

    def test_three_hundred_of_a_round_are_kept(self, cores: Path) -> None:
        core = Core(cores)
        core.round(*[1000] * SAMPLES, *[10] * SAMPLES)
        assert core.state.samples == SAMPLES
        assert set(core.state.rate_Bps) == {1_000_000}


class TestTheMedianOfARound:
    @given(samples=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=SAMPLES))
    def test_it_is_the_one_in_the_middle(self, cores: Path, samples: list[int]) -> None:
        assert median(cores, samples) == sorted(samples)[len(samples) // 2]

    def test_few_pairs_that_are_far_off_do_not_move_it(self, cores: Path) -> None:
        core = Core(cores)
        core.rounds(3)
        core.round(1, 1, 1000, 1000, 1000, 80_000)
        assert core.ack(50_000, core.una + 8000) == 100


class TestTheExit:
    """After the third round it is known: rate x least round trip, in packets."""

    @pytest.mark.parametrize(("rounds", "target_pkts"), [(1, 0), (3, 0), (4, 100), (6, 100)])
    def test_three_rounds_come_before(self, cores: Path, rounds: int, target_pkts: int) -> None:
        assert Core(cores).rounds(rounds) == target_pkts

    def test_the_number_of_rounds_is_a_parameter(self, cores: Path) -> None:
        assert Core(cores, skip_rounds=0).rounds(1) == 100

    def test_the_least_round_trip_counts(self, cores: Path) -> None:
        core = Core(cores)
        core.round(1000, rtt_us=50_000)
        assert core.rounds(3) == 50

    def test_a_later_round_replaces_it(self, cores: Path) -> None:
        core = Core(cores)
        core.rounds(4)
        assert core.rounds(1, gap_us=500) == 200

    def test_it_is_at_least_two_packets(self, cores: Path) -> None:
        assert Core(cores).rounds(4, gap_us=1_000_000) == 2

    def test_sequence_numbers_wrap(self, cores: Path) -> None:
        assert Core(cores, snd_nxt=2**32 - 20_000).rounds(4) == 100

    @given(
        acks=st.lists(
            st.tuples(st.integers(0, 2**40), st.integers(0, 2**31 - 1), st.integers(0, 2**32 - 1)), max_size=60
        )
    )
    def test_any_stream_has_a_window_within_its_bounds(self, cores: Path, acks: list[tuple[int, int, int]]) -> None:
        core = Core(cores, skip_rounds=0)
        for after_us, acked_bytes, rtt_us in acks:
            target_pkts = core.ack(after_us, core.una, rtt_us, acked_bytes)
            assert target_pkts == 0 or 2 <= target_pkts <= 2**24
