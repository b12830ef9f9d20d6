# SPDX-License-Identifier: GPL-2.0-or-later
"""Rapid Start's core does what each section of draft-kazuho-ccwg-rapid-start says."""

import ctypes
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rapid_start import Core

MSS = 1448
BETA = Fraction(7, 10)


def rounds(core: Core, *rtts_us: int, acks: int = 10) -> list[int]:
    """Rounds of so many ACKs, each of one packet and all with the round's RTT; what the window grows by in each."""
    grown, end = [], 0
    for rtt_us in rtts_us:
        begin, end = end, end + acks * MSS
        grown.append(sum(core.grown(begin + (n + 1) * MSS, end, rtt_us) for n in range(acks)))
    return grown


def test_the_vectors_that_the_kernel_checks_hold_here_too(cores: Path) -> None:
    library = ctypes.CDLL(str(cores))
    library.startup_vector_that_fails.restype = ctypes.c_char_p
    assert library.startup_vector_that_fails() is None


class TestFullRttPacing:
    """The first flight is known as such, so that the module paces it over a whole round trip."""

    def test_the_first_flight_lasts_until_an_ack_of_something_new(self, cores: Path) -> None:
        core = Core(cores)
        assert core.state.rounds == 0
        core.grown(MSS, 20 * MSS, 100_000)
        assert core.state.rounds == 1
        core = Core(cores, snd_nxt=1)
        core.grown(1, 1, 100_000)
        assert core.state.rounds == 0
        core = Core(cores, snd_nxt=2**32 - 100)
        core.grown(MSS - 100, 20 * MSS, 100_000)
        assert core.state.rounds == 1


class TestIncreasingTheCongestionWindow:
    """Three times a round trip without a queue, twice with one."""

    def test_it_triples_while_the_round_trip_time_stays_and_when_the_queue_has_gone(self, cores: Path) -> None:
        assert rounds(Core(cores), 100_000, 100_000, 100_000) == [20, 20, 20]
        assert rounds(Core(cores), 100_000, 150_000, 100_000) == [20, 10, 20]
        assert rounds(Core(cores), 100_000, 80_000, 90_000) == [20, 20, 10]

    @pytest.mark.parametrize(("min_us", "most_us"), [(20_000, 22_000), (40_000, 44_000), (600_000, 604_000)])
    def test_the_queue_begins_beyond_4_ms_or_a_tenth(self, cores: Path, min_us: int, most_us: int) -> None:
        assert rounds(Core(cores), min_us, most_us) == [20, 20]
        assert rounds(Core(cores), min_us, most_us + 1) == [20, 10]

    def test_a_round_has_its_least_sample_and_before_its_first_the_floor_of_the_round_before(self, cores: Path) -> None:
        core = Core(cores)
        core.grown(MSS, 30 * MSS, 100_000)
        assert [core.grown(n * MSS, 30 * MSS, 200_000) for n in range(2, 30)] == [2] * 28
        core = Core(cores)
        rounds(core, 100_000, 200_000)
        assert core.grown(21 * MSS, 60 * MSS, 0) == 1


class TestCongestionHandling:
    """The window of the first recovery period."""

    def test_a_period_begins_with_nine_tenths_and_more_acked_or_lost_is_never_more(self, cores: Path) -> None:
        assert Core(cores).recovering(1000, 0, 0) == 900
        core = Core(cores)
        assert [core.recovering(900, n, 0) for n in (0, 100, 500)] == [810, 790, 710]
        assert [core.recovering(900, 0, n) for n in (0, 100, 500)] == [810, 720, 360]

    @given(held=st.integers(400, 10**6), lost_share=st.fractions(0, Fraction(2, 3)))
    def test_it_ends_at_beta_of_the_path_for_any_loss(self, cores: Path, held: int, lost_share: Fraction) -> None:
        """Appendix A: the window before is what the path holds and what it dropped."""
        before = int(held / (1 - lost_share))
        end = Core(cores).recovering(before, held, before - held)
        assert end == pytest.approx(float(BETA * held), abs=1)

    @given(before=st.integers(2, 2**32 - 1), acked=st.integers(0, 2**32 - 1), lost=st.integers(0, 2**32 - 1))
    def test_it_never_falls_below_the_bounds_nor_rises(self, cores: Path, before: int, acked: int, lost: int) -> None:
        window = Core(cores).recovering(before, acked, lost)
        assert window >= max(2, before * 7 // 30)
        assert window >= min(14, before * 9 // 10)  # 0.7 of the initial window
        assert window <= max(2, before * 9 // 10)


class TestHandingOverToCubic:
    """W_max is twice the estimated full BDP."""

    @pytest.mark.parametrize(("cwnd_pkts", "w_max_pkts"), [(700, 2000), (7, 20), (2**32 // 4, 2**32 * 10 // 14)])
    def test_w_max_is_twice_the_window_by_beta(self, cores: Path, cwnd_pkts: int, w_max_pkts: int) -> None:
        assert Core(cores).w_max(cwnd_pkts) == w_max_pkts
