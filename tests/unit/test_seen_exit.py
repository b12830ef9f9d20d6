# SPDX-License-Identifier: GPL-2.0-or-later
"""A record of an exit is refused where what was in flight contradicts it, and within the tolerance it is not."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lab.base.errors import UserError
from lab.judge.packet_exit import Flight, Seen
from lab.judge.seen_exit import MOST_ROUNDS, _grows_on, _stood_before
from lab.judge.seen_exit import flight_of as flight_of_trial

PARTS = ("bottleneck", "delay-up")
RTT_S, FRAME_BYTES, STEP_S = 0.1, 1514, 0.001
PATH = Seen(RTT_S, RTT_S / 2, FRAME_BYTES)


def flight_of(*windows_pkts: float) -> Flight:
    """Return a sender that has these windows, one after the other, each for a round; then the last one for long."""
    per_round = round(RTT_S / STEP_S)
    pkts = np.repeat([*windows_pkts, *[windows_pkts[-1]] * 30], per_round).astype(float)
    acked = np.concatenate((np.zeros(per_round), np.cumsum(pkts / per_round)))[: len(pkts)] * FRAME_BYTES
    return Flight((np.arange(len(pkts)) * STEP_S).astype(np.float64), acked + pkts * FRAME_BYTES, acked)


DOUBLING = [10.0 * 2**n for n in range(6)]  # to 320 in round 6


@pytest.mark.parametrize(
    ("windows", "round_", "refused"),
    [
        (DOUBLING, 6, False),
        ([*DOUBLING, 400, 440], 6, False),
        (DOUBLING, 5, True),
        (DOUBLING, 4, True),
        ([4, 8, 12, 16], 1, False),  # few packets: one is much
    ],
    ids=["at the end", "then a half more", "a round too early", "two rounds too early", "a small window"],
)
def test_a_record_too_early_is_refused(windows: list[float], round_: int, refused: bool) -> None:
    at_s = round_ * RTT_S - STEP_S
    assert bool(_grows_on(flight_of(*windows), at_s, PATH)) is refused


@pytest.mark.parametrize(
    ("rounds", "refused"), [(0, False), (5, False), (MOST_ROUNDS, False), (MOST_ROUNDS + 3, True), (20, True)]
)
def test_a_record_too_late_is_refused(rounds: int, refused: bool) -> None:
    at_s = (len(DOUBLING) + rounds) * RTT_S - STEP_S
    assert bool(_stood_before(flight_of(*DOUBLING), at_s, PATH)) is refused


def test_growth_after_a_pause_is_growth() -> None:
    pause = [*DOUBLING[:2], *[DOUBLING[1]] * 12, *DOUBLING[2:]]
    assert not _stood_before(flight_of(*pause), len(pause) * RTT_S - STEP_S, PATH)


@pytest.mark.parametrize(
    "applied",
    [
        [],
        [{"part": "delay-up", "spec": {}}],
        [{"part": part, "spec": {"kind": "none", "delay_us": 1}} for part in PARTS],
    ],
)
def test_a_strangers_trial_without_the_qdiscs_of_a_path_is_refused(applied: list[dict[str, object]]) -> None:
    trial = SimpleNamespace(
        path=Path("trial"), meta={"applied": applied, "base_rtt_ms": 40}, link=SimpleNamespace(frame_bytes=1514)
    )
    with pytest.raises(UserError, match=r"trial\.json: applied=.*: must be the qdiscs of a path"):
        flight_of_trial(trial)  # type: ignore[arg-type]
