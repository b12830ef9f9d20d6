# SPDX-License-Identifier: GPL-2.0-or-later
"""search9 decides as neqo describes draft -09: its published test values, then any stream of ACKs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_papers.search_replay import AFTER_SILENCE, EXIT, NO_PREVIOUS, RTT_TOO_LONG, STAY, TOO_FEW_BINS, version

from tests.search_acks import Acks, Bins, decide_as

INITIAL_US, LOW_US, HIGH_US, AFTER_RESET_US = 100_000, 80_000, 200_000, 150_000
BIN_US = 35_000  # 3.5 x 100 ms / 10
PACKET = 1200


class Step(NamedTuple):
    """One ACK: when after the one before, with which RTT, what it delivers, and what was sent meanwhile."""

    after_us: int
    rtt_us: int = INITIAL_US
    acked: int = PACKET
    sent: int = PACKET


def bins_of(library: Path, steps: list[Step], name: str = "search9") -> Bins:
    """What search9 decides, after a first ACK of one packet that starts it."""
    steps = [Step(0), *steps]
    t_us = np.cumsum([step.after_us for step in steps], dtype=np.uint64)
    rtt_us = np.array([step.rtt_us for step in steps], dtype=np.int32)
    acked = np.cumsum([step.acked for step in steps], dtype=np.uint64)
    sent = np.cumsum([step.sent for step in steps], dtype=np.uint64)
    return decide_as(library, name, Acks(t_us, rtt_us, acked), sent_bytes=sent)


def one_a_bin(count: int, **step: int) -> list[Step]:
    return [Step(BIN_US + 1, **step) for _ in range(count)]


def test_its_parameters_are_the_drafts_and_a_bin_ends_strictly_after_its_end(library: Path) -> None:
    params = version(library, "search9").params
    assert (params.window_factor_tenths, params.bins, params.extra_bins, params.threshold_pct) == (35, 10, 15, 26)
    assert len(bins_of(library, [Step(BIN_US)])) == 0
    assert len(bins_of(library, [Step(BIN_US), Step(1)])) == 1
    # Nothing was delivered in the ten bins before the last: a window that ends with them is empty.
    stalled = [*one_a_bin(20), Step(9 * BIN_US, acked=0, sent=0), Step(BIN_US, acked=5)]
    assert bins_of(library, stalled)[-1]["curr_delv_bytes"] == 5


@pytest.mark.parametrize("rtt_us", [LOW_US, HIGH_US])
def test_only_the_first_round_trip_time_sets_the_bins(library: Path, rtt_us: int) -> None:
    (row,) = bins_of(library, [Step(HIGH_US, rtt_us=rtt_us)])
    assert row["bin_us"] == BIN_US
    assert row["bin"] == HIGH_US // BIN_US - 1


@pytest.mark.parametrize(("bins", "verdict"), [(10, TOO_FEW_BINS), (11, AFTER_SILENCE), (15, AFTER_SILENCE)])
def test_more_than_a_window_of_skipped_bins_starts_again(library: Path, bins: int, verdict: int) -> None:
    assert bins_of(library, [Step(bins * BIN_US + 1)])[-1]["verdict"] == verdict


def test_the_ack_after_a_reset_starts_with_its_own_round_trip_time(library: Path) -> None:
    silence = Step(12 * BIN_US)
    new_bin_us = AFTER_RESET_US * 35 // 100
    steps = [silence, Step(1000, rtt_us=AFTER_RESET_US), Step(new_bin_us), Step(1)]
    reset, closed = bins_of(library, steps)
    assert reset["verdict"] == AFTER_SILENCE
    assert (closed["bin"], closed["bin_us"]) == (0, new_bin_us)


def test_the_look_back_is_two_bins_and_85_percent_first_at_bin_13_and_decides_nothing_at_15(library: Path) -> None:
    """100 ms of 35 ms: sent bytes grow by 100 more each bin, so windows a bin apart differ by 1000."""
    steps = [Step(BIN_US + 1, sent=100 * n, acked=0) for n in range(1, 21)]
    first = sum(100 * n for n in range(9, 19))  # ends 2 bins before bin 20
    second = sum(100 * n for n in range(8, 18))
    assert bins_of(library, steps)[-1]["prev_delv_bytes"] == (15 * first + 85 * second) // 100
    row = bins_of(library, one_a_bin(20, sent=1000, acked=1000))[-1]
    assert (row["prev_delv_bytes"], row["curr_delv_bytes"]) == (10_000, 10_000)
    bins = bins_of(library, one_a_bin(23))
    assert bins["verdict"].tolist() == [TOO_FEW_BINS] * 12 + [STAY] * 11
    assert bins["norm_permille"][12:].tolist() == [0] * 11
    later = [step for rtt_us in (600_000, 525_000, 524_999) for step in one_a_bin(1, rtt_us=rtt_us)]
    verdicts = bins_of(library, [*one_a_bin(28), *later])["verdict"]
    assert verdicts[-3:].tolist() == [RTT_TOO_LONG, RTT_TOO_LONG, STAY]
    assert bins_of(library, one_a_bin(13, sent=0, acked=0))["verdict"][-1] == NO_PREVIOUS


def doubling(rounds: int) -> list[Step]:
    return [Step(INITIAL_US, acked=14_720 << n, sent=14_720 << n) for n in range(rounds)]


def test_delivery_of_a_quarter_of_what_is_sent_ends_slow_start_at_its_second_round(library: Path) -> None:
    steps = doubling(16)
    most = 14_720 << 16
    slow = [Step(INITIAL_US, acked=most // 4, sent=most), Step(INITIAL_US, acked=most * 5 // 16, sent=most * 5 // 4)]
    verdicts = bins_of(library, steps + slow)["verdict"].tolist()
    assert EXIT not in verdicts[:-1]
    assert verdicts[-1] == EXIT


@dataclass
class Draft:
    """SEARCH -09 with a list for each count, by bins of the whole flow: `sent[i]` is the count at the end of bin i."""

    forward: bool = False
    bin_us: int = 0
    end_us: int = 0
    sent: list[int] = field(default_factory=list)
    acked: list[int] = field(default_factory=list)

    def take(self, t_us: int, rtt_us: int, acked: int, sent: int) -> int | None:
        """Return an ACK's verdict; None where no bin ended."""
        if not self.bin_us:
            self.bin_us = max(rtt_us * 350 // 100 // 10, 1)
            self.end_us, self.sent, self.acked = t_us + self.bin_us, [sent], [acked]
        if t_us <= self.end_us:
            return None
        passed = (t_us - self.end_us) // self.bin_us + 1
        if passed > 10:
            self.bin_us = 0
            return AFTER_SILENCE
        self.sent += [self.sent[-1]] * (passed - 1) + [sent]
        self.acked += [self.acked[-1]] * (passed - 1) + [acked]
        self.end_us += passed * self.bin_us
        return self._evaluated(rtt_us)

    def _evaluated(self, rtt_us: int) -> int:
        now, back = len(self.sent) - 1, rtt_us // self.bin_us
        end, percent = now - back, rtt_us % self.bin_us * 100 // self.bin_us
        if end <= 10:
            return TOO_FEW_BINS
        if back >= 15:
            return RTT_TOO_LONG
        second = end + 1 if self.forward else end - 1
        if second > now:
            return NO_PREVIOUS
        mixed = self._sent_in(end) * (100 - percent) + self._sent_in(second) * percent
        expected = mixed // 100
        if not expected:
            return NO_PREVIOUS
        short = max(expected - (self.acked[now] - self.acked[now - 10]), 0)
        return EXIT if short * 100 // expected >= 26 else STAY

    def _sent_in(self, end: int) -> int:
        return self.sent[end] - self.sent[end - 10]


STEPS = st.lists(
    st.builds(
        Step,
        after_us=st.sampled_from([*range(0, 40_000, 997), BIN_US, 3 * BIN_US, 600_000]),  # a reset is rare
        rtt_us=st.one_of(st.sampled_from([INITIAL_US, LOW_US, HIGH_US, AFTER_RESET_US]), st.integers(1, 700_000)),
        acked=st.integers(0, 60_000),
        sent=st.integers(0, 60_000),
    ),
    max_size=200,
)


@pytest.mark.parametrize("name", ["search9", "search9_printed"])
@given(steps=STEPS)
def test_every_decision_is_the_drafts(library: Path, name: str, steps: list[Step]) -> None:
    draft, expected = Draft(forward=name == "search9_printed"), []
    t_us = acked = sent = 0
    for number, step in enumerate([Step(0), *steps]):
        t_us, acked, sent = t_us + step.after_us, acked + step.acked, sent + step.sent
        if (verdict := draft.take(t_us, step.rtt_us, acked, sent)) is not None:
            expected.append((number, verdict))
    assert bins_of(library, steps, name)[["ack", "verdict"]].tolist() == expected


def test_as_printed_the_interpolation_expects_more_and_a_doubling_flow_is_left(library: Path) -> None:
    steps = [step._replace(sent=100 * n) for n, step in enumerate(one_a_bin(20))]
    right, printed = (bins_of(library, steps, name)[-1] for name in ("search9", "search9_printed"))
    assert printed["prev_delv_bytes"] > right["prev_delv_bytes"]
    # What the erratum is about: with the window in the past the flow goes on.
    steps = [Step(10_000, acked=round(1000 * 2 ** (n / 10)), sent=round(2000 * 2 ** (n / 10))) for n in range(120)]
    assert EXIT not in bins_of(library, steps)["verdict"]
    assert EXIT in bins_of(library, steps, "search9_printed")["verdict"]
