# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of Careful Resume, of thresholds and of completion over a trial made by hand: ten ACKs, a jump, a loss."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from lab_conform.events import Link
from lab_conform.measures import MEASURES
from lab_conform.view import Unmeasured, View

MSS = 1000
JUMP_S = 0.209  # of the tenth ACK
SENT = 100  # segments that come in the round trip after it, one a millisecond
RECOVERY_S, OPEN_S = 0.33, 0.39


def acks(cwnds: list[int], first_s: float, una_pkts: int, nxt_pkts: int, ssthresh: int | None) -> pl.DataFrame:
    """Return ACKs of a segment each, a millisecond apart."""
    count = range(len(cwnds))
    return pl.DataFrame(
        {
            "t_s": [first_s + n / 1e3 for n in count],
            "flow": 1,
            "cwnd_pkts": cwnds,
            "ssthresh_pkts": pl.Series([ssthresh] * len(cwnds), dtype=pl.UInt32),
            "srtt_ms": 100.0,
            "snd_una_bytes": [1 + MSS * (una_pkts + n) for n in count],
            "snd_nxt_bytes": [1 + MSS * (nxt_pkts + n) for n in count],
        }
    )


def view(retreat: list[int]) -> View:
    """Return a trial: initial data, the jump to 150, a loss 121 ms later, and the windows of a retreat."""
    table = pl.concat(
        [
            acks([10 + n for n in range(10)], JUMP_S - 0.009, 0, 10, None),
            acks([150] * 20, JUMP_S + 0.1, 10, 110, None),
            acks(retreat, RECOVERY_S + 0.001, 31, 131, 30),
            acks([31, 32, 33], OPEN_S, 110, 140, 30),
        ]
    )
    times = [JUMP_S + 0.05 + (n + 0.5) / 1e3 for n in range(SENT)]
    came = {"t_s": times, "flow": 1, "to_client": True, "frame_bytes": MSS + 66, "len_bytes": MSS}
    numbers = {"seq_bytes": [1 + MSS * n for n in range(SENT)], "ack_bytes": 1, "sack_edges": 0}
    states = pl.DataFrame({"t_s": [0.0, RECOVERY_S, OPEN_S], "flow": 1, "state": ["open", "recovery", "open"]})
    trial: Any = SimpleNamespace(
        meta={"mss_bytes": MSS}, acks=table, ca_states=states, packets=pl.DataFrame(came | numbers)
    )
    return View(Link(rate_mbps=50, rtt_ms=100), 1, trial)


RETREAT = [150, 40, 30, 30, 30, 30]


@pytest.mark.parametrize(
    ("measure", "given", "value"),
    [
        ("jumps", {}, 1),
        ("jump_pkts", {}, 150),
        ("acked_at_jump_pkts", {}, 10),
        ("sent_after_jump_share", {"rtts": 0.5}, 0.5),
        ("window_after_jump_pkts", {"plus_rtts": 1.0}, 150),
        ("window_over_flight_pkts", {"plus_rtts": 1.0}, 50),
        ("growth_after_jump", {"from_rtts": 1.0, "to_rtts": 1.1}, 1),
        ("growth_in_retreat_pkts", {}, 0),
        ("threshold_above_pkts", {"factor": 0.5}, 30 - 75),
        ("threshold_above_pkts", {"factor": 0.1}, 30 - 15),
        ("threshold_above_pkts", {"factor": 0.01}, 30 - 2),
        ("completion_s", {"size_mb": 0.05}, JUMP_S + 0.0995),
    ],
)
def test_a_measure_is_what_the_packets_show(measure: str, given: dict[str, float], value: float) -> None:
    assert MEASURES[measure](view(RETREAT), **given) == pytest.approx(value)


def test_the_retreat_is_held_against_what_was_in_flight_and_what_came_since() -> None:
    """Nine in flight behind the tenth ACK, and the segments whose ACKs the sender has at the loss."""
    came = 22  # in the 121 ms since the jump, less the round trip
    assert MEASURES["retreat_over_half_pipe_pkts"](view(RETREAT)) == pytest.approx(30 - (9 + came) / 2, abs=0.51)
    assert MEASURES["threshold_over_pipe"](view(RETREAT)) == pytest.approx(30 / (9 + 81), rel=0.02)


def test_a_window_that_comes_late_to_that_of_the_retreat_is_above_it() -> None:
    slow, usual = ([150, 40, *late, 30, 30] for late in ([40, 40], [30, 30]))
    assert [MEASURES["growth_in_retreat_pkts"](view(each)) for each in (slow, usual)] == [0, 0]
    above = [float(MEASURES["retreat_over_half_pipe_pkts"](view(each))) for each in (slow, usual)]
    assert above[0] - above[1] == 10


def test_growth_within_the_retreat_is_counted() -> None:
    assert MEASURES["growth_in_retreat_pkts"](view([150, 40, 30, 31, 32, 32])) == 2


@pytest.mark.parametrize(("measure", "given"), [("jump_pkts", {}), ("sent_after_jump_share", {"rtts": 0.5})])
def test_without_a_jump_its_measures_have_a_reason(measure: str, given: dict[str, float]) -> None:
    calm = view(RETREAT)
    calm.trial.acks = acks([10, 11, 12, 13], 0.2, 0, 10, None)
    with pytest.raises(Unmeasured, match="never jumps"):
        MEASURES[measure](calm, **given)
    assert MEASURES["jumps"](calm) == 0


def test_a_download_that_does_not_end_has_a_reason() -> None:
    with pytest.raises(Unmeasured, match=r"0\.10 of 1 MB"):
        MEASURES["completion_s"](view(RETREAT), size_mb=1)
