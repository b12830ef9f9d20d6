# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of tcp_info that a sender's kernel reported now and then: as a series, and what limited the sender."""

from collections.abc import Iterator

import polars as pl

COARSE = "The rows are readings of the sender's TCP: what passed between two of them is not known; the RTT is smoothed."


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
