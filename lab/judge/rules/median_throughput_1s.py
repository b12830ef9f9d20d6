# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity by the median throughput of the first second (WiFi paper, section IV.A).

lab/judge/median_throughput.py has the intervals.

On a GEO satellite the first second holds the handshake (600 ms) and the first few windows, so most of its intervals are
empty and the median is 0 Mb/s. Taken literally, as it is here, any exit is then above it: no exit is early, and the
capacity is reached with the first ACK. The paper meant the rule for WiFi; on GEO the row shows how it fails.
"""

from collections.abc import Iterator

import polars as pl

from lab.judge.median_throughput import median_first_mbps
from lab.judge.rate_rule import judge_by_rate
from lab.judge.rule import Constants, Evidence, Judgement, Point, Rule

FIRST_SECOND_S = 1.0
SPANS_S = ((0.1,), (0.25,), (0.5,), (1.0,), (1.5,), (2.0,), (3.0,))


def median_first_second_mbps(throughput: pl.DataFrame, _exit_s: float | None = None) -> float | None:
    """Return the median over the first second after the SYN; the exit does not matter."""
    return median_first_mbps(throughput, FIRST_SECOND_S)


def _judge(evidence: Evidence) -> Judgement:
    return judge_by_rate(evidence, median_first_second_mbps(evidence.throughput))


def _judge_points(evidence: Evidence, points: tuple[Point, ...]) -> Iterator[Judgement]:
    for (span_s,) in points:
        yield judge_by_rate(evidence, median_first_mbps(evidence.throughput, span_s))


RULE = Rule(
    name="median_throughput_1s",
    label="median, first second",
    meaning="Capacity by the WiFi paper's rule for short paths: the bitrate at the exit reaches the median throughput "
    "of the first second. On a satellite path that second is nearly empty, so this rule calls no exit early there.",
    needs=("packets",),
    judge=_judge,
    rate_mbps=median_first_second_mbps,
    constants=Constants({"span_s": "span (s)"}, (FIRST_SECOND_S,), SPANS_S, _judge_points),
)
