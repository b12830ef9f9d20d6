# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity by the median throughput (thesis, section 5.2.2; WiFi paper, section IV.A and figure 4).

Throughput is the TCP payload that reached the client, in intervals of 15 ms from the flow's SYN (t=0) on; payload that
arrives twice counts twice, as it does in Wireshark. Intervals without an arrival count as 0 Mb/s, and the last,
incomplete one does not count. The median of them stands for the link's capacity, in one of two ways:

* `first second` (WiFi paper): "the median value over the first second". The 66 whole intervals of [0, 1) s;
  null for a download that ended before.
* `after slow start` (thesis, section 5.3.3): "the median throughput after slow start". The intervals that
  begin at the exit or later; null for a sender that never leaves slow start.

Slow start reached the capacity before it was left if the exit bitrate, cwnd * MSS / RTT at the exit, is not
below that median. The capacity time in tables is when cwnd * MSS / RTT first reached the median (rate_rule.py).
"""

import polars as pl

from lab.base.stats import largest, median

INTERVAL_S = 0.015
INTERVAL_TEXT = f"{INTERVAL_S * 1e3:g} ms"


def throughput(packets: pl.DataFrame, flow: int = 1) -> pl.DataFrame:
    """Return the throughput of each whole interval: begin_s, end_s, throughput_mbps, from t=0 to the last arrival."""
    data = packets.lazy().filter((pl.col("flow") == flow) & pl.col("to_client") & (pl.col("len_bytes") > 0))
    interval = (pl.col("t_s") / INTERVAL_S).floor().cast(pl.Int64)
    filled = data.group_by(interval=interval).agg(payload_bytes=pl.col("len_bytes").cast(pl.Int64).sum()).collect()
    # The interval of the last arrival is cut short by it: it stays out.
    every = pl.DataFrame({"interval": range(int(largest(filled["interval"]) or 0))}, schema={"interval": pl.Int64})
    counted = every.join(filled, on="interval", how="left").sort("interval")
    return counted.select(
        begin_s=pl.col("interval") * INTERVAL_S,
        end_s=(pl.col("interval") + 1) * INTERVAL_S,
        throughput_mbps=pl.col("payload_bytes").fill_null(0) * 8 / INTERVAL_S / 1e6,
    )


def median_first_mbps(throughput: pl.DataFrame, span_s: float) -> float | None:
    """Return the median over a span that begins with the SYN; null where the download ended before it did."""
    within = throughput.filter(pl.col("end_s") <= span_s)["throughput_mbps"]
    return median(within) if len(within) >= int(span_s / INTERVAL_S) else None


def median_after_mbps(throughput: pl.DataFrame, exit_s: float | None) -> float | None:
    """Return the median after slow start (thesis); null when slow start was never left."""
    return None if exit_s is None else median(throughput.filter(pl.col("begin_s") >= exit_s)["throughput_mbps"])
