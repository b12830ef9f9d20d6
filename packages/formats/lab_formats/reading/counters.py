# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel's socket counts: 32-bit counters that wrap, totals that may only grow, and rows of tcp_info."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab_formats.reading.table import Table

WRAP = 2**32
LONGEST_GAP_US = 300_000_000  # between two ACKs: Linux waits 120 s for one at most (TCP_RTO_MAX), then sends again
MOST_STEP_BYTES = 2**31  # between two sequence numbers: RFC 9293, 3.4
LARGEST = 2.0**53  # every whole number below it is exact as a float
Counts = NDArray[np.int64]
COARSE = "The rows are readings of the sender's TCP: what passed between two of them is not known; the RTT is smoothed."


def whole(table: Table, name: str, low: int = 0, high: float = LARGEST) -> Counts:
    """Read a column of whole numbers; UserError names the first line that has another."""
    values = table.numbers(name, low, high).to_numpy()
    if len(odd := np.flatnonzero(values != np.floor(values))):
        raise _error(table, name, int(odd[0]), "a whole number")
    counts: Counts = values.astype(np.int64)
    return counts


def clock_us(table: Table, name: str) -> Counts:
    """Read a clock in us, from 0; one of 32 bits goes on after its wrap, any other step back is refused.

    Numbers may be negative: those of a log that counts from its first ACK are, after the wrap.
    """
    steps = np.diff(whole(table, name, -WRAP))
    wrapped = (steps < 0) & (steps + WRAP <= LONGEST_GAP_US)
    if len(back := np.flatnonzero((steps < 0) & ~wrapped)):
        raise _error(table, name, int(back[0]) + 1, "no earlier than in the line before, but for a wrap at 2^32")
    return np.concatenate([[0], np.cumsum(steps + WRAP * wrapped)])


def total(table: Table, name: str) -> Counts:
    """Read a total, which may not decrease."""
    counts = whole(table, name)
    if len(back := np.flatnonzero(np.diff(counts) < 0)):
        raise _error(table, name, int(back[0]) + 1, "no less than in the line before")
    return counts


def sequence(table: Table, name: str) -> Counts:
    """Read 32-bit sequence numbers that do not decrease as bytes since the first, over as many wraps as there are."""
    steps = np.diff(whole(table, name, 0, WRAP - 1)) % WRAP
    if len(back := np.flatnonzero(steps >= MOST_STEP_BYTES)):
        raise _error(table, name, int(back[0]) + 1, "no less than in the line before, but for a wrap at 2^32")
    return np.concatenate([[0], np.cumsum(steps)])


def not_negative(table: Table, name: str, counts: Counts, rule: str) -> pl.Series:
    """Return counts as a column; UserError names the line of the first that is negative."""
    if len(low := np.flatnonzero(counts < 0)):
        raise _error(table, name, int(low[0]), rule)
    return pl.Series(counts)


def _error(table: Table, name: str, row: int, rule: str) -> Exception:
    return table.error(table.row_of(row), name, table.text(name)[row], rule)


def series(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of a recording; retransmissions are counted from one row to the next.

    What is acknowledged in order jumps where a hole is filled: what arrived is that and what SACK blocks report.
    """
    steps = pl.col("retransmits").diff().fill_null(pl.col("retransmits")).clip(0).cast(pl.UInt32)
    counts = ("acked_bytes", "inflight_bytes", "cwnd_pkts")
    delivered = (pl.col("acked_bytes") + pl.col("sacked").fill_null(0) * pl.col("mss_bytes")).cum_max()
    return frame.select(
        "t_s",
        pl.col("acked_bytes").cast(pl.Int64),
        delivered.cast(pl.Int64).alias("delivered_bytes"),
        pl.when(pl.col("rtt_ms") > 0).then("rtt_ms").alias("rtt_ms"),  # 0: no sample yet
        *(pl.col(name).cast(pl.Int64) for name in counts[1:]),
        steps.alias("retransmits_pkts"),
        pl.col("mss_bytes").cast(pl.UInt32),
    )


def limits(frame: pl.DataFrame) -> Iterator[str]:
    """Yield the least RTT, and how long the receive window limited the sender, as the kernel counted."""
    readings = [frame[name].cast(pl.Float64) for name in ("least_rtt_ms", "rtt_ms")]
    known_ms = [value for each in readings for value in each.drop_nulls() if value > 0]
    yield f"Least RTT: {min(known_ms):g} ms." if known_ms else "No reading has an RTT."
    last = frame.row(-1, named=True)
    if last["busy_ms"]:
        share = 100 * (last["window_ms"] or 0) / last["busy_ms"]
        yield f"The receive window limited the sender in {share:.0f} % of the time in which it had data to send."
