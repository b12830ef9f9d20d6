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

import polars as pl

EXCEEDED_RTTS = 2.0
BACK_TO_RTTS = 0.5


def offsets(packets: pl.DataFrame, flow: int = 1) -> pl.DataFrame:
    """Arrival time (t_s) and latency offset (offset_ms) of each data segment that reached the client."""
    data = packets.lazy().filter(
        (pl.col("flow") == flow) & pl.col("to_client") & (pl.col("len_bytes") > 0) & pl.col("tsval").is_not_null()
    )
    late_ms = pl.col("t_s") * 1000 - _since_first_tick_ms(pl.col("tsval"))
    return data.select("t_s", offset_ms=late_ms - late_ms.min()).collect()


def capacity_s(offsets: pl.DataFrame, min_rtt_ms: float) -> float | None:
    """Time at which the link was at capacity, by the rule above, from the table that `offsets` returns."""
    exceeded = offsets.filter(pl.col("offset_ms") > EXCEEDED_RTTS * min_rtt_ms)
    if exceeded.is_empty():
        return None
    before = offsets.filter(pl.col("t_s") < exceeded.item(0, "t_s"))
    below = before.filter(pl.col("offset_ms") < BACK_TO_RTTS * min_rtt_ms)
    return None if below.is_empty() else float(below.item(-1, "t_s"))


def filling(offsets: pl.DataFrame, min_rtt_ms: float, t_s: float) -> bool:
    """Whether the last segment before t_s was late by half the minimum RTT or more.

    If it was not, any capacity that a longer trial would find lies after t_s: step 2 stops no earlier.
    """
    before = offsets.filter(pl.col("t_s") <= t_s)
    return not before.is_empty() and float(before.item(-1, "offset_ms")) >= BACK_TO_RTTS * min_rtt_ms


def _since_first_tick_ms(tsval: pl.Expr) -> pl.Expr:
    """Signed distance to the flow's first TSval: a wrap of the 32 bits is a step of one tick."""
    half = 1 << 31
    distance = tsval.cast(pl.Int64) - tsval.cast(pl.Int64).first()
    return ((distance + half) & ((1 << 32) - 1)) - half
