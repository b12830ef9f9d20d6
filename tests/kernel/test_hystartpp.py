# SPDX-License-Identifier: GPL-2.0-or-later
"""HyStart++: the core does what RFC 9406 requires, ACK by ACK, and so does the module in a real download."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.kernel.build import Kernel
from tests.c_core import Core as CCore
from tests.conftest import SMALL, Bench, experiment_on, windows_of_rounds

SLOW_START, CSS, EXIT = range(3)  # enum hystartpp_phase
SEQ = 2**32


@dataclass(frozen=True)
class Params:
    """struct hystartpp_params; the RFC's values."""

    min_rtt_thresh_us: int = 4000
    max_rtt_thresh_us: int = 16000
    min_rtt_divisor: int = 8
    n_rtt_sample: int = 8
    css_growth_divisor: int = 4
    css_rounds: int = 5
    l_pkts: int = 8


@dataclass(frozen=True)
class Ack:
    """One ACK: what it newly acknowledges, the RTT that it gives (0: none), and what has been sent by then."""

    snd_una: int
    snd_nxt: int
    rtt_us: int
    acked_pkts: int = 1


class Core(CCore):
    def __init__(self, library: Path, snd_nxt: int, params: Params = Params(), paced: bool = False) -> None:
        super().__init__(library, "hystartpp", params)
        self.paced = paced
        self.lib.hystartpp_start(self.state, snd_nxt % SEQ)

    def take(self, ack: Ack) -> tuple[int, int]:
        """Return the phase after an ACK, and the segments that the window grows by (0 on exit)."""
        phase = self.taken("on_ack", ack.snd_una % SEQ, ack.snd_nxt % SEQ, ack.rtt_us)
        return phase, 0 if phase == EXIT else self.taken("growth_pkts", ack.acked_pkts, self.paced)


@dataclass
class Rfc:
    """Section 4.2 of RFC 9406 with sequence numbers that never wrap, infinities and fractions."""

    window_end: int
    params: Params = Params()
    paced: bool = False
    last_min: float = inf
    current_min: float = inf
    baseline: float = inf
    samples: int = 0
    rounds: int = 0
    grown: float = 0.0
    given: int = field(default=0)

    def take(self, ack: Ack) -> tuple[int, int]:
        """Return the phase after an ACK, and the whole segments that the window grows by."""
        ends_here = ack.snd_una == self.window_end
        if ack.snd_una > self.window_end:
            self._next_round(ack)
        if ack.rtt_us:
            self._sample(ack.rtt_us)
        if ends_here:
            self._next_round(ack)
        if self.baseline == inf:
            return SLOW_START, self._counted(ack)
        if self.rounds >= self.params.css_rounds:
            return EXIT, 0
        return CSS, self._slowly(ack)

    def _next_round(self, ack: Ack) -> None:
        self.window_end, self.last_min, self.current_min, self.samples = ack.snd_nxt, self.current_min, inf, 0
        self.rounds += self.baseline < inf

    def _sample(self, rtt_us: int) -> None:
        p = self.params
        self.current_min, self.samples = min(self.current_min, rtt_us), self.samples + 1
        if self.samples < p.n_rtt_sample:
            return
        if self.baseline < inf:
            self.baseline = inf if self.current_min < self.baseline else self.baseline
        elif self.last_min < inf:
            thresh = max(p.min_rtt_thresh_us, min(self.last_min // p.min_rtt_divisor, p.max_rtt_thresh_us))
            if self.current_min >= self.last_min + thresh:
                self.baseline, self.rounds, self.grown, self.given = self.current_min, 0, 0.0, 0

    def _counted(self, ack: Ack) -> int:
        return ack.acked_pkts if self.paced else min(ack.acked_pkts, self.params.l_pkts)

    def _slowly(self, ack: Ack) -> int:
        """All growth of this CSS so far, rounded down, less what was given."""
        self.grown += self._counted(ack)
        before, self.given = self.given, int(self.grown // self.params.css_growth_divisor)
        return self.given - before


MSS = 1448
RFC_9406 = Params()


@pytest.fixture(scope="session")
def library(kernel: Kernel) -> Path:
    return kernel.replay_library.with_name("libhystartpp.so")


def rounds(*rtts_ms: float, acks: int = 10, start: int = 0) -> list[Ack]:
    """One round an RTT: so many ACKs of a segment each, all with that RTT; the last ends the round."""
    stream = []
    for number, rtt_ms in enumerate(rtts_ms):
        sent = start + (number + 2) * acks * MSS
        first = start + number * acks * MSS
        stream += [Ack(first + (n + 1) * MSS, sent, round(rtt_ms * 1000)) for n in range(acks)]
    return stream


def phases(library: Path, stream: Iterable[Ack], params: Params = RFC_9406) -> list[int]:
    core = Core(library, 10 * MSS, params)
    return [core.take(ack)[0] for ack in stream]


def at_round_ends(library: Path, *rtts_ms: float, params: Params = RFC_9406) -> list[int]:
    return phases(library, rounds(*rtts_ms), params)[9::10]


def test_what_is_no_grown_round_trip_stays_in_slow_start(library: Path) -> None:
    assert set(at_round_ends(library, *[100] * 20)) == {SLOW_START}
    stream = rounds(100, 150)
    stream[12] = replace(stream[12], rtt_us=100_000)
    assert set(phases(library, stream)) == {SLOW_START}
    stream = [ack if n % 10 < 7 else replace(ack, rtt_us=0) for n, ack in enumerate(rounds(100, 200, 300))]
    assert set(phases(library, stream)) == {SLOW_START}
    stream = rounds(100, 100, 200, 200)
    stream[10:20] = [replace(ack, rtt_us=0) for ack in stream[10:20]]
    assert set(phases(library, stream)) == {SLOW_START}


def test_a_grown_round_trip_leads_to_css_at_its_eighth_sample_which_grows_by_a_quarter(library: Path) -> None:
    assert phases(library, rounds(100, 112.5))[10:] == [SLOW_START] * 7 + [CSS] * 3
    grown = growth(library, rounds(100, 130, 130))
    assert grown[:17] == [1] * 17
    assert sum(grown[17:]) == (30 - 17) // 4


@pytest.mark.parametrize(
    ("before_ms", "enough_ms"), [(10, 14), (31.9, 35.9), (32, 36), (80, 90), (128, 144), (500, 516)]
)
def test_the_growth_that_counts_is_an_eighth_of_4_to_16_ms(library: Path, before_ms: float, enough_ms: float) -> None:
    assert at_round_ends(library, before_ms, enough_ms)[-1] == CSS
    assert at_round_ends(library, before_ms, enough_ms - 0.001)[-1] == SLOW_START


def test_css_ends_after_five_rounds_or_below_its_baseline_and_begins_again_where_numbers_wrap(library: Path) -> None:
    assert at_round_ends(library, 100, 130, 130, 130, 130, 130) == [SLOW_START, CSS, CSS, CSS, CSS, EXIT]
    assert at_round_ends(library, 100, 130, 129, 129)[2:] == [SLOW_START, SLOW_START]
    assert at_round_ends(library, 100, 130, 130)[2] == CSS
    ends = at_round_ends(library, 100, 130, 130, 130, 100, 130, 130, 130, 130, 130)
    assert ends == [SLOW_START, CSS, CSS, CSS, SLOW_START, CSS, CSS, CSS, CSS, EXIT]
    for start in (2**32 - 25 * MSS, 2**31 - 25 * MSS, 2**32 - 1):
        core = Core(library, start + 10 * MSS)
        ends = [core.take(ack)[0] for ack in rounds(100, 130, 130, 130, 130, 130, start=start)][9::10]
        assert ends == [SLOW_START, CSS, CSS, CSS, CSS, EXIT]


def growth(library: Path, stream: list[Ack], paced: bool = False) -> list[int]:
    core = Core(library, 10 * MSS, paced=paced)
    return [core.take(ack)[1] for ack in stream]


@pytest.mark.parametrize(("paced", "grown"), [(False, 8), (True, 40)])
def test_one_ack_adds_eight_segments_at_most_unless_paced(library: Path, paced: bool, grown: int) -> None:
    assert growth(library, [Ack(MSS, 20 * MSS, 100_000, acked_pkts=40)], paced) == [grown]


def test_an_ack_beyond_the_rounds_end_belongs_to_the_next_round(library: Path) -> None:
    """Eight samples of 100 ms fill the first round; the stretch ACK that ends it has a sample of the second."""
    stream = [*rounds(100)[:9], Ack(12 * MSS, 30 * MSS, 90_000), *rounds(200, start=12 * MSS)[:8]]
    assert set(phases(library, stream)) == {SLOW_START}
    stream[9] = replace(stream[9], snd_una=10 * MSS)
    assert phases(library, stream)[-1] == CSS


@st.composite
def ack_streams(draw: st.DrawFn) -> list[Ack]:
    """ACKs of 1 to 20 segments; a sender that sends 0 to 40 upon each; RTTs of a few kinds, some missing."""
    base_us = draw(st.integers(1, 2**20))
    rtt = st.one_of(st.just(0), st.just(base_us), st.integers(1, 2**31 - 1), st.integers(base_us, base_us + 30_000))
    una = nxt = draw(st.integers(0, 2**33))
    nxt += 10 * MSS
    stream = []
    steps = st.tuples(st.integers(1, 20), st.integers(0, 40), rtt)
    for acked, sent, rtt_us in draw(st.lists(steps, min_size=1, max_size=300)):
        acked = min(acked, (nxt - una) // MSS)
        una += acked * MSS
        stream.append(Ack(una, nxt, rtt_us, acked))
        nxt += max(sent, 1) * MSS
    return stream


PARAMS = st.builds(
    Params,
    min_rtt_thresh_us=st.integers(1, 10_000),
    max_rtt_thresh_us=st.integers(1, 30_000),
    min_rtt_divisor=st.integers(1, 20),
    n_rtt_sample=st.integers(1, 12),
    css_growth_divisor=st.integers(2, 9),
    css_rounds=st.integers(1, 6),
    l_pkts=st.integers(1, 20),
)


@given(stream=ack_streams(), params=st.one_of(st.just(RFC_9406), PARAMS), paced=st.booleans())
@settings(max_examples=400, deadline=None)
def test_the_core_decides_as_the_rfc_by_ack(library: Path, stream: list[Ack], params: Params, paced: bool) -> None:
    first_end = stream[0].snd_nxt
    core, rfc = Core(library, first_end, params, paced), Rfc(first_end, params, paced)
    for ack in stream:
        decided = rfc.take(ack)
        assert core.take(ack) == decided
        if decided[0] == EXIT:
            break


@pytest.mark.parametrize(
    "wrong",
    [{"n_rtt_sample": 0}, {"css_rounds": 256}, {"css_growth_divisor": 1}, {"l_pkts": 0}, {"min_rtt_divisor": 0}],
)
def test_parameters_out_of_range_are_known_as_such(library: Path, wrong: dict[str, int]) -> None:
    assert CCore(library, "hystartpp", Params()).valid()
    assert not CCore(library, "hystartpp", Params(**wrong)).valid()


DEEP = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"buffer_bytes": 3_000_000})})


def test_a_real_download_with_room_for_css_leaves_by_hystartpp_before_any_loss(bench: Bench) -> None:
    trial = bench.run(experiment_on(DEEP, "hystartpp"), "hystartpp", "deep")
    (row,) = trial.exits.to_dicts()
    assert trial.valid
    assert row["cause"] == "hystartpp"
    assert row["cwnd_pkts"] == row["ssthresh_pkts"]
    assert trial.qdisc.filter(pl.col("t_s") <= row["t_s"])["drops_pkts"].max() == 0


def test_the_real_window_doubles_each_round_and_then_grows_by_a_quarter_five_times(bench: Bench) -> None:
    """Window at the end of each round (snd_una reaches what had been sent when it began)."""
    trial = bench.run(experiment_on(DEEP, "hystartpp"), "hystartpp", "deep")
    ends = windows_of_rounds(trial)
    assert ends[1:5] == [10, 20, 40, 80]
    windows = [*ends, trial.exits["cwnd_pkts"][0]]
    assert [later / earlier for earlier, later in pairwise(windows[-6:])] == [pytest.approx(1.25, abs=0.05)] * 5
