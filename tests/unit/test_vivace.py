# SPDX-License-Identifier: GPL-2.0-or-later
"""PCC Vivace's core does what each section of its paper (NSDI 2018) says."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.paced_flow import Link
from tests.vivace import STARTS, TRIES, Core, Flow


def trying(library: Path, rate_kbps: int = 10_000, seed: int = 1) -> Core:
    core = Core(library, rate_kbps, seed=seed)
    core.state.phase = TRIES
    return core


def trial(core: Core, higher: tuple[int, int] = (0, 0), lower: tuple[int, int] = (0, 0)) -> int:
    """Two intervals with what they measure; return by how much the rate moves."""
    before = int(core.state.rate_kbps)
    rates = [core.next()[0] for _ in range(2)]
    for rate in rates:
        core.measured(rate, *(higher if rate > before else lower))
    return int(core.state.rate_kbps) - before


class TestUtility:
    """x^0.9 - b x dRTT/dT - c x L, with x in Mb/s."""

    @given(rate_kbps=st.integers(1000, 10**8))
    @example(rate_kbps=14_437)
    def test_of_a_rate_alone(self, cores: Path, rate_kbps: int) -> None:
        exact = 1000 * (rate_kbps / 1000) ** 0.9
        assert Core(cores).utility(rate_kbps) == pytest.approx(exact, rel=0, abs=0.00016 * exact + 1)

    @pytest.mark.parametrize(
        ("loss_ppm", "gradient_ppm", "less"),
        [(10_000, 0, 10 * 11.35 * 0.01), (0, 20_000, 10 * 900 * 0.02), (0, -20_000, -10 * 900 * 0.02), (0, 9_999, 0)],
    )
    def test_what_losses_and_a_queue_take(self, cores: Path, loss_ppm: int, gradient_ppm: int, less: float) -> None:
        core = Core(cores)
        taken = core.utility(10_000) - core.utility(10_000, loss_ppm, gradient_ppm)
        assert taken == pytest.approx(1000 * less, abs=1)


class TestGradient:
    """The round-trip time's, by linear regression."""

    @pytest.mark.parametrize("ppm", [-200_000, -1000, 0, 1000, 50_000, 900_000])
    def test_of_a_straight_line(self, cores: Path, ppm: int) -> None:
        samples = [(at, 100_000 + at * ppm // 1_000_000) for at in range(0, 100_000, 1000)]
        assert Core(cores).gradient_ppm(samples) == pytest.approx(ppm, rel=0.02, abs=300)

    def test_of_noise_around_one(self, cores: Path) -> None:
        samples = [(at, 100_000 + at // 20 + (at % 7) * 100) for at in range(0, 200_000, 777)]
        assert Core(cores).gradient_ppm(samples) == pytest.approx(50_000, rel=0.1)

    @pytest.mark.parametrize("samples", [[], [(5, 100_000)], [(5, 100_000), (5, 200_000)]])
    def test_without_two_times_there_is_none(self, cores: Path, samples: list[tuple[int, int]]) -> None:
        assert Core(cores).gradient_ppm(samples) == 0

    @given(samples=st.lists(st.tuples(st.integers(0, 2**24 - 1), st.integers(1, 2**27 - 1)), max_size=200))
    def test_it_is_bounded(self, cores: Path, samples: list[tuple[int, int]]) -> None:
        assert -1_000_000 <= Core(cores).gradient_ppm(samples) <= 1_000_000


class TestStart:
    """The rate doubles until the utility falls, and goes back by one."""

    def test_it_doubles_while_the_utility_grows(self, cores: Path) -> None:
        core, rates = Core(cores, 1000), []
        for _ in range(4):
            rates.append(core.next()[0])
            assert core.next() == (rates[-1], False)  # nothing more is measured before the result is known
            assert not core.measured(rates[-1])
        assert rates == [1000, 2000, 4000, 8000]

    def test_a_fall_ends_it_and_what_the_application_limits_is_sent_again(self, cores: Path) -> None:
        core = Core(cores, 1000)
        core.measured(core.next()[0])
        assert core.measured(core.next()[0], loss_ppm=300_000)
        assert (core.state.phase, core.state.rate_kbps) == (TRIES, 1000)
        core = Core(cores, 1000)
        first = core.next()
        core.lib.vivace_again(core.state)
        assert core.next() == first


class TestRateControl:
    """A trial of two rates in random order, and a step along the utility's gradient."""

    def test_the_rates_are_five_percent_apart_in_both_orders(self, cores: Path) -> None:
        orders = set()
        for seed in range(1, 40):
            core = trying(cores, seed=seed * 77_777_777)
            orders.add((core.next(), core.next(), core.next()))
        higher, lower, present = (10_500, True), (9_500, True), (10_000, False)
        assert orders == {(higher, lower, present), (lower, higher, present)}

    def test_the_step_is_theta_times_the_gradient(self, cores: Path) -> None:
        """u+ - u- over 1 Mb/s, in Mb/s: at 10 Mb/s a kb/s for a thousandth of utility."""
        core = trying(cores)
        difference = core.utility(10_500, 5000) - core.utility(9_500)
        assert trial(core, higher=(5000, 0)) == difference > 0
        assert trial(trying(cores), higher=(20_000, 0)) == -500  # losses turn it


class TestConfidenceAmplifier:
    """1, 2, 3, then 2 tau - 3; a turn begins it again."""

    def test_decisions_in_a_row_grow_bolder_until_a_turn(self, cores: Path) -> None:
        core = trying(cores, 1_000_000)  # a boundary of 50 Mb/s is never met
        steps = [trial(core) for _ in range(5)]
        first = steps[0]
        assert [round(step / first) for step in steps] == [1, 2, 3, 5, 7]
        core = trying(cores, 1_000_000)
        for _ in range(4):
            trial(core)
        trial(core, higher=(100_000, 0))
        assert core.state.in_a_row == 1


class TestBoundary:
    """5 % of the rate, and 10 % more for each step that it cuts; as little as a step needs; 5 % after a turn."""

    def test_it_cuts_and_widens(self, cores: Path) -> None:
        core = trying(cores, 1000)
        steps = []
        for _ in range(3):
            before = core.state.rate_kbps
            steps.append(trial(core) / before)
        assert steps == pytest.approx([0.05, 0.15, 0.25], abs=0.002)

    def test_a_smaller_step_or_a_turn_narrows_it(self, cores: Path) -> None:
        core = trying(cores, 1_000_000)
        core.state.widened, core.state.direction = 5, 1
        trial(core)
        assert core.state.widened == 0
        core = trying(cores, 1000)
        for _ in range(3):
            trial(core)
        before = int(core.state.rate_kbps)
        assert trial(core, higher=(300_000, 0)) == pytest.approx(-0.05 * before, abs=1)


class TestTimeout:
    def test_the_rate_halves_and_the_start_ends_down_to_100_kbps(self, cores: Path) -> None:
        core = Core(cores, 8000)
        core.next()
        core.lib.vivace_timeout(core.state)
        assert (core.state.phase, core.state.rate_kbps, core.state.sent) == (TRIES, 4000, 0)
        core = Core(cores, 150)
        core.lib.vivace_timeout(core.state)
        assert core.state.rate_kbps == 100


def test_over_a_path_it_leaves_the_start_and_fills_the_link(cores: Path) -> None:
    flow = Flow(cores, Link(buffer_pkts=100)).run(5)
    assert flow.visits(STARTS)[0][1] < 2e6
    before = flow.delivered
    flow.run(20)
    assert flow.delivered - before > 0.8 * 20e6 * flow.path.rate


measurements = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 10**6), st.integers(-(10**6), 10**6))


@settings(deadline=None)
@given(rates=st.integers(0, 2**32 - 1), measured=st.lists(measurements, min_size=1, max_size=60))
def test_no_mixture_leads_out_of_its_range(cores: Path, rates: int, measured: list[tuple[int, int, int]]) -> None:
    core = Core(cores, rates, seed=rates)
    for _, loss_ppm, gradient_ppm in measured:
        core.measured(core.next()[0], loss_ppm, gradient_ppm)
        assert 100 <= core.state.rate_kbps <= 100_000_000
