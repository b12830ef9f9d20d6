# SPDX-License-Identifier: GPL-2.0-or-later
"""Careful Resume's core does what each section of RFC 9959 says.

Packet n has the sequence numbers up to 1000 n. The initial data is ten packets; 29 are in flight at the jump.
"""

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.careful_resume import NORMAL, RECONNAISSANCE, SAFE_RETREAT, UNVALIDATED, VALIDATING, Change, Core, Params

UNCHANGED = Change(0, 0)
INITIAL = 10_000
SAVED = Params()


def reconnoitred(library: Path, params: Params = SAVED, rtt_us: int = 100_000) -> tuple[Core, Change]:
    """A connection whose initial data is acknowledged, and what the last of its ACKs changes."""
    core = Core(library, params)
    core.ack(snd_una=1000, snd_nxt=INITIAL, rtt_us=rtt_us)
    return core, core.ack(snd_una=INITIAL, snd_nxt=39_000, rtt_us=rtt_us, flight_pkts=29, cwnd_pkts=29)


def jumped(library: Path, params: Params = SAVED) -> Core:
    """A connection just after its jump: 29 packets in flight, the first unvalidated one begins at 39,000."""
    core, change = reconnoitred(library, params)
    assert (core.phase, change) == (UNVALIDATED, Change(150, 0))
    return core


def validating(library: Path, params: Params = SAVED) -> Core:
    """A connection that has sent its 121 unvalidated packets, and got the ACKs of the 29 before."""
    core = jumped(library, params)
    change = core.ack(
        now_us=1000, snd_una=39_000, snd_nxt=160_000, acked_pkts=29, before_pkts=150, flight_pkts=121, cwnd_pkts=150
    )
    assert (core.phase, change, core.pipe_pkts) == (VALIDATING, Change(121, 0), 58)
    return core


class TestReconnaissance:
    """The path is confirmed before anything changes."""

    def test_all_initial_data_acknowledged_confirms_the_path_and_changes_nothing_before(self, cores: Path) -> None:
        core = Core(cores)
        changes = [core.ack(snd_una=1000 * n, snd_nxt=INITIAL) for n in range(1, 10)]
        assert core.phase == RECONNAISSANCE
        assert set(changes) == {UNCHANGED}
        core, change = reconnoitred(cores)
        assert (core.phase, core.pipe_pkts) == (UNVALIDATED, 29)
        assert change == Change(150, 0)

    def test_a_sender_that_its_window_does_not_limit_waits(self, cores: Path) -> None:
        core = Core(cores)
        core.ack(snd_una=1000, snd_nxt=INITIAL)
        assert core.ack(snd_una=INITIAL, snd_nxt=INITIAL, limited=0) == UNCHANGED
        assert core.phase == RECONNAISSANCE
        assert core.ack(snd_una=INITIAL + 1, snd_nxt=39_000, flight_pkts=29).cwnd_pkts == 150

    def test_congestion_a_short_round_trip_and_a_jump_no_larger_than_the_window_end_it(self, cores: Path) -> None:
        core = Core(cores)
        core.ack(snd_una=1000, snd_nxt=INITIAL)
        assert core.congested() == UNCHANGED
        assert core.phase == NORMAL
        core = Core(cores)
        core.ack(snd_una=1000, snd_nxt=INITIAL, rtt_us=50_000)
        core.ack(snd_una=INITIAL, snd_nxt=39_000, rtt_us=100_000, flight_pkts=29)
        assert core.phase == NORMAL
        core, change = reconnoitred(cores, replace(SAVED, saved_cwnd_pkts=59))
        assert (core.phase, change) == (NORMAL, UNCHANGED)

    @pytest.mark.parametrize(
        "unusable",
        [{"saved_cwnd_pkts": 0}, {"saved_rtt_us": 0}, {"path_changed": 1}, {"saved_age_s": 3601}],
        ids=["nothing saved", "no RTT saved", "another remote endpoint", "beyond its lifetime"],
    )
    def test_what_cannot_be_used_is_not(self, cores: Path, unusable: dict[str, int]) -> None:
        core = Core(cores, replace(SAVED, **unusable))
        assert not core.usable()
        assert core.phase == NORMAL

    @pytest.mark.parametrize(
        ("rtt_us", "phase"), [(50_000, NORMAL), (50_001, UNVALIDATED), (1_000_000, UNVALIDATED), (1_000_001, NORMAL)]
    )
    def test_a_round_trip_of_half_the_saved_one_or_above_ten_times_it_is_another_path(
        self, cores: Path, rtt_us: int, phase: int
    ) -> None:
        core, change = reconnoitred(cores, rtt_us=rtt_us)
        assert core.phase == phase
        assert (change == UNCHANGED) == (phase == NORMAL)


class TestUnvalidated:
    """Half of the saved window, and how the phase ends."""

    @pytest.mark.parametrize(("saved", "most", "jump"), [(300, 1000, 150), (301, 1000, 150), (300, 100, 100)])
    def test_the_jump_is_half_the_saved_and_bounded(self, cores: Path, saved: int, most: int, jump: int) -> None:
        params = replace(SAVED, saved_cwnd_pkts=saved, max_jump_pkts=most)
        assert reconnoitred(cores, params)[1] == Change(jump, 0)

    def test_pipe_size_grows_by_what_is_acknowledged_and_the_window_keeps_the_initial_one(self, cores: Path) -> None:
        core = jumped(cores)
        core.ack(snd_una=11_000, snd_nxt=60_000, acked_pkts=3, before_pkts=50, flight_pkts=47, cwnd_pkts=150)
        assert (core.phase, core.pipe_pkts) == (UNVALIDATED, 32)
        core = Core(cores)
        core.ack(snd_una=1000, snd_nxt=INITIAL)
        core.ack(snd_una=INITIAL, snd_nxt=12_000, flight_pkts=2)
        assert core.ack(snd_una=12_001, snd_nxt=13_000, before_pkts=2, flight_pkts=1, cwnd_pkts=150) == Change(10, 0)

    @pytest.mark.parametrize(
        "event",
        [
            {"before_pkts": 150, "snd_una": 20_000},
            {"before_pkts": 140, "snd_una": 39_001},
            {"before_pkts": 140, "snd_una": 20_000, "now_us": 100_001},
        ],
        ids=["all unvalidated packets sent", "the first one acknowledged", "more than a round trip"],
    )
    def test_it_ends_with_what_is_in_flight(self, cores: Path, event: dict[str, int]) -> None:
        core = jumped(cores)
        assert core.ack(snd_nxt=160_000, flight_pkts=120, cwnd_pkts=150, **event) == Change(120, 0)
        assert core.phase == VALIDATING

    @pytest.mark.parametrize(("flight", "window"), [(9, 30), (30, 30)])
    def test_one_below_its_window_gets_pipe_size_and_is_done(self, cores: Path, flight: int, window: int) -> None:
        core = jumped(cores)
        change = core.ack(snd_nxt=60_000, snd_una=39_001, before_pkts=flight + 1, flight_pkts=flight, cwnd_pkts=150)
        assert (core.phase, change) == (NORMAL, Change(window, 0))

    def test_a_path_that_changes_and_congestion_lead_to_the_safe_retreat(self, cores: Path) -> None:
        core = jumped(cores)
        assert core.ack(snd_una=20_000, snd_nxt=60_000, rtt_us=50_000, acked_pkts=11, cwnd_pkts=150) == Change(20, 0)
        assert core.phase == SAFE_RETREAT
        core = jumped(cores)
        assert core.congested(snd_nxt=60_000) == Change(14, 0)
        assert core.phase == SAFE_RETREAT


class TestValidating:
    """Until the last unvalidated packet is acknowledged."""

    def test_the_window_is_left_to_the_normal_rules_until_the_last_unvalidated_packet(self, cores: Path) -> None:
        core = validating(cores)
        assert core.ack(snd_una=100_000, snd_nxt=200_000, acked_pkts=61) == UNCHANGED
        assert (core.phase, core.pipe_pkts) == (VALIDATING, 119)
        core = validating(cores)
        core.ack(snd_una=159_999, snd_nxt=200_000)
        assert core.phase == VALIDATING
        assert core.ack(snd_una=160_000, snd_nxt=200_000) == UNCHANGED
        assert core.phase == NORMAL

    def test_congestion_leads_to_the_safe_retreat_with_half_of_pipe_size(self, cores: Path) -> None:
        core = validating(cores)
        core.ack(snd_una=73_000, snd_nxt=200_000, acked_pkts=34)
        assert core.congested(snd_nxt=200_000) == Change(46, 0)
        assert core.phase == SAFE_RETREAT


class TestSafeRetreat:
    """The window waits; the threshold follows from what got through."""

    def test_the_window_does_not_grow_and_a_second_signal_changes_nothing(self, cores: Path) -> None:
        core = validating(cores)
        core.congested(snd_nxt=200_000)
        assert {core.ack(snd_una=1000 * n, snd_nxt=200_000) for n in range(40, 160)} == {UNCHANGED}
        assert core.phase == SAFE_RETREAT
        core = validating(cores)
        core.congested(snd_nxt=200_000)
        assert core.congested(snd_nxt=210_000) == UNCHANGED

    @pytest.mark.parametrize(("beta_pct", "ssthresh"), [(50, 89), (70, 125), (100, 179)])
    def test_it_ends_with_the_last_unvalidated_packet_and_a_threshold_of_pipe_size_by_beta(
        self, cores: Path, beta_pct: int, ssthresh: int
    ) -> None:
        core = validating(cores, replace(SAVED, beta_pct=beta_pct))
        core.congested(snd_nxt=200_000)
        assert core.ack(snd_una=160_000, snd_nxt=200_000, acked_pkts=121) == Change(0, ssthresh)
        assert core.phase == NORMAL

    def test_two_packets_are_left_of_the_smallest_pipe(self, cores: Path) -> None:
        core = Core(cores)
        core.ack(snd_una=1000, snd_nxt=INITIAL)
        core.ack(snd_una=INITIAL, snd_nxt=11_000, flight_pkts=1)
        assert core.congested(snd_nxt=12_000) == Change(2, 0)


class TestPersistentCongestion:
    """A timeout ends Careful Resume in every phase."""

    def test_a_timeout_ends_it(self, cores: Path) -> None:
        for core in (Core(cores), jumped(cores), validating(cores)):
            core.timeout()
            assert core.phase == NORMAL
            assert core.ack(snd_una=INITIAL, snd_nxt=39_000, flight_pkts=29) == UNCHANGED


@given(
    acks=st.lists(
        st.tuples(
            st.integers(0, 3000),
            st.integers(0, 8000),
            st.sampled_from([0, 40_000, 100_000, 2_000_000]),
            st.integers(0, 5),
            st.integers(0, 400),
            st.integers(0, 30_000),
            st.sampled_from([0, 0, 0, 0, 0, 1]),
        ),
        max_size=120,
    )
)
def test_no_order_jumps_twice_or_above_half_or_grows_in_a_retreat(cores: Path, acks: list[tuple[int, ...]]) -> None:
    core, una, nxt, now, window, phases = Core(cores), 2**32 - 50_000, 2**32 - 40_000, 0, 10, [RECONNAISSANCE]
    for acked, sent, rtt_us, acked_pkts, flight, after_us, loss in acks:
        una, nxt, now = min(una + acked, nxt), nxt + sent, now + after_us
        fields = {"snd_una": una % 2**32, "snd_nxt": nxt % 2**32, "now_us": now, "rtt_us": rtt_us}
        change = (
            core.congested(nxt % 2**32)
            if loss
            else core.ack(**fields, acked_pkts=acked_pkts, before_pkts=flight, flight_pkts=flight, cwnd_pkts=window)
        )
        if core.phase == SAFE_RETREAT and phases[-1] != SAFE_RETREAT:
            assert change.cwnd_pkts <= max(core.pipe_pkts // 2, 2)
        elif phases[-1] == SAFE_RETREAT:
            assert change.cwnd_pkts == 0
        elif core.phase == UNVALIDATED != phases[-1]:
            assert change.cwnd_pkts == 150
        window = change.cwnd_pkts or window
        phases.append(core.phase)
    order = [phase for phase, _ in groupby(phases)]
    assert order == sorted(set(order), key=[RECONNAISSANCE, UNVALIDATED, VALIDATING, SAFE_RETREAT, NORMAL].index)
