# SPDX-License-Identifier: GPL-2.0-or-later
"""What the bottleneck carried while it was backlogged, in steps; elsewhere only how much it carried at least."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab_whatif.path import Down

Numbers = NDArray[np.float64]
MARGIN_S = 0.002  # beyond which a wait is more than the time stamps' step: design, tried on 29 trials
KNOWN_SHARE = 0.25  # of a step that must have been backlogged
LEAST_PACKETS = 3  # in it: fewer are the grain of packets, but where the whole step was backlogged
REPLAYED_PACKETS, REPLAYED_SHARE = 2, 0.1  # give a step its rate in a replay: any backlog says more than a fill
WHOLE = 0.9


def busy_gaps(down: Down, step_s: float) -> NDArray[np.bool_]:
    """Return which packets entered the bottleneck before the one in front of them left it; none that was overtaken.

    Those that one time shows together (an ACK of many, a merged segment) did so where they did on average.
    """
    gap_s = np.diff(down.arrival_s, prepend=-np.inf)
    first = np.flatnonzero(gap_s > 0)
    count = np.diff(first, append=len(gap_s))
    together = np.add.reduceat(down.wait_s, first) / count > gap_s[first] + max(MARGIN_S, 2 * step_s)
    return np.asarray(np.repeat(together, count) & ~overtaken(down, step_s))


def overtaken(down: Down, step_s: float) -> NDArray[np.bool_]:
    """Return which packets arrived behind one that was sent later: they were late by themselves, not in a queue."""
    sent_s = down.arrival_s - down.wait_s
    return np.asarray(sent_s < np.maximum.accumulate(sent_s) - max(MARGIN_S, 2 * step_s))


def in_order(down: Down, step_s: float) -> Down:
    """Return packets as they waited in the queue: one that was overtaken as long as what was sent next to it."""
    late = overtaken(down, step_s)
    sent_s = down.arrival_s - down.wait_s
    others = np.flatnonzero(~late)[np.argsort(sent_s[~late], kind="stable")]
    wait_s = np.where(late, np.interp(sent_s, sent_s[others], down.wait_s[others]), down.wait_s)
    arrival_s = sent_s + wait_s
    order = np.argsort(arrival_s, kind="stable")
    return Down(arrival_s[order], wait_s[order], down.seq[order], down.end[order], down.frame_bytes[order])


def capacity(down: Down, stamp_step_s: float, step_s: float, shift_s: float) -> pl.DataFrame:
    """Return the capacity in steps; rate_mbps is null where it is not known, and `shift_s` is the way from there.

    replayed_mbps has a value wherever anything was backlogged; at_least_mbps is what passed.
    """
    busy = busy_gaps(down, stamp_step_s)
    left_s = down.arrival_s - shift_s
    count = max(int(np.ceil(left_s[-1] / step_s)), 1)
    edges: Numbers = np.arange(count + 1, dtype=np.float64) * step_s
    gap_s = np.where(busy, np.diff(left_s, prepend=left_s[0]), 0.0)
    sizes = np.where(busy, down.frame_bytes, 0)
    busy_s = _within(left_s, gap_s, edges)
    carried = _within(left_s, sizes.astype(float), edges)
    total = np.histogram(left_s, edges, weights=down.frame_bytes)[0]
    packets = np.histogram(left_s, edges, weights=busy.astype(float))[0]
    enough = (packets >= LEAST_PACKETS) | (busy_s > WHOLE * step_s)
    known = (busy_s > KNOWN_SHARE * step_s) & enough
    seen = known | ((packets >= REPLAYED_PACKETS) & (busy_s > REPLAYED_SHARE * step_s))
    rate = np.divide(carried * 8 / 1e6, busy_s, out=np.full(count, np.nan), where=known)
    table = pl.DataFrame(
        {
            "t_s": edges[:-1],
            "rate_mbps": rate,
            "known": known,
            "replayed_mbps": np.divide(carried * 8 / 1e6, busy_s, out=np.full(count, np.nan), where=seen),
            "busy_share": np.minimum(busy_s / step_s, 1.0),
            "at_least_mbps": total * 8 / 1e6 / step_s,
        }
    )
    return table.with_columns(pl.col("rate_mbps").fill_nan(None))


def _within(
    ends_s: NDArray[np.float64], amounts: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide amounts over steps: each lies evenly between the end before it and its own."""
    begins_s = np.concatenate([ends_s[:1], ends_s[:-1]])
    length_s = np.maximum(ends_s - begins_s, 1e-9)
    total = np.concatenate([[0.0], np.cumsum(amounts)])
    place = np.searchsorted(ends_s, edges, side="right")
    inside = np.minimum(place, len(ends_s) - 1)
    part = np.clip((edges - begins_s[inside]) / length_s[inside], 0, 1) * amounts[inside]
    return np.diff(np.where(place < len(ends_s), total[place] + part, total[-1]))
