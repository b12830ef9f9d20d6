# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity by the one-way latency offset at the client (thesis, section 5.2.1 and figure 5.4).

The offset of a data segment is its arrival time at the client minus the time in its TCP timestamp (TSval),
which the sender's kernel writes when it transmits. The two clocks need not agree: the smallest difference
of the flow is removed, which leaves the time that the segment waited longer than the luckiest one.

At capacity, step by step as in the thesis:

1. the first moment at which the offset exceeds twice the minimum RTT: the link was full at some point before;
2. back from there to the last segment whose offset was below half the minimum RTT: its arrival is the answer.

Null where the offset never exceeds twice the minimum RTT (a shallow buffer, or a flow that never fills the
link), and where no segment before that moment was below half.

* TSval ticks in milliseconds, so an offset is up to 1 ms too long: nothing against half of a satellite's
  RTT, too much for a path of a few milliseconds, for which the thesis uses the median throughput instead.
* A retransmission carries a TSval of its own, so its offset is as good as any other and it counts.
* TSval is 32 bits wide and starts anywhere (tcp_timestamps=1): differences are taken modulo 2^32.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import polars as pl

from lab.judge.classify import by_time
from lab.judge.rule import Constants, Evidence, Judgement, Point, Rule
from lab.tables.downloads import FLOW

EXCEEDED_RTTS = 2.0
BACK_TO_RTTS = 0.5
EXCEED_RTTS = (0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
BACK_RTTS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5)


def offsets(packets: pl.DataFrame, flow: int = 1) -> pl.DataFrame:
    """Return arrival time (t_s) and latency offset (offset_ms) of each data segment that reached the client."""
    data = packets.lazy().filter(
        (pl.col("flow") == flow) & pl.col("to_client") & (pl.col("len_bytes") > 0) & pl.col("tsval").is_not_null()
    )
    late_ms = pl.col("t_s") * 1000 - _since_first_tick_ms(pl.col("tsval"))
    return data.select("t_s", offset_ms=late_ms - late_ms.min()).collect()


def capacity_s(
    offsets: pl.DataFrame, min_rtt_ms: float, exceeded_rtts: float = EXCEEDED_RTTS, back_to_rtts: float = BACK_TO_RTTS
) -> float | None:
    """Return the time at which the link was at capacity, by the rule above, from the table that `offsets` returns."""
    t_s, offset_ms = offsets["t_s"].to_numpy(), offsets["offset_ms"].to_numpy()
    exceeded = np.flatnonzero(offset_ms > exceeded_rtts * min_rtt_ms)
    if not exceeded.size:
        return None
    below = np.flatnonzero((t_s < t_s[exceeded[0]]) & (offset_ms < back_to_rtts * min_rtt_ms))
    return float(t_s[below[-1]]) if below.size else None


def last_ms(offsets: pl.DataFrame, t_s: float) -> float | None:
    """Return the offset of the last segment that came until t_s; null before any."""
    before = offsets.filter(pl.col("t_s") <= t_s)
    return None if before.is_empty() else float(before.item(-1, "offset_ms"))


def filling(last_ms: float | None, min_rtt_ms: float, back_to_rtts: float = BACK_TO_RTTS) -> bool:
    """Return whether the last segment before an exit was late by half the minimum RTT or more.

    If it was not, any capacity that a longer trial would find lies after the exit: step 2 stops no earlier.
    """
    return last_ms is not None and last_ms >= back_to_rtts * min_rtt_ms


def _since_first_tick_ms(tsval: pl.Expr) -> pl.Expr:
    """Return the signed distance to the flow's first TSval: a wrap of the 32 bits is a step of one tick."""
    half = 1 << 31
    distance = tsval.cast(pl.Int64) - tsval.cast(pl.Int64).first()
    return ((distance + half) & ((1 << 32) - 1)) - half


def _judge(evidence: Evidence) -> Judgement:
    (found,) = _judge_points(evidence, ((EXCEEDED_RTTS, BACK_TO_RTTS),))
    return found


def _judge_points(evidence: Evidence, points: tuple[Point, ...]) -> Iterator[Judgement]:
    table, least_ms, left = offsets(evidence.trial.packets, FLOW), evidence.min_rtt_ms, evidence.exit
    late_ms = last_ms(table, left.t_s) if left else None
    for exceed_rtts, back_rtts in points:
        if least_ms is None:
            yield Judgement(None, None)
            continue
        found_s = capacity_s(table, least_ms, exceed_rtts, back_rtts)
        hinted = filling(late_ms, least_ms, back_rtts)
        yield Judgement(found_s, by_time(left, found_s, evidence.signal_s, filling=hinted))


RULE = Rule(
    name="latency_offset",
    label="latency offset",
    meaning="Capacity by the thesis's rule for long paths: the one-way latency at the client exceeds its minimum by "
    "twice the minimum RTT; back from there to where it last was below half of it.",
    needs=("packets",),
    judge=_judge,
    constants=Constants(
        {"exceed_rtts": "exceeds (RTTs)", "back_rtts": "back to (RTTs)"},
        (EXCEEDED_RTTS, BACK_TO_RTTS),
        tuple((exceed, back) for exceed, back in product(EXCEED_RTTS, BACK_RTTS) if back < exceed),
        _judge_points,
    ),
)
