# SPDX-License-Identifier: GPL-2.0-or-later
"""At capacity in truth: when the bottleneck's queue first stays filled, from the queue itself.

Only an emulator can look. The qdisc's backlog and its counter of bytes sent are sampled, at
least 60 times a base RTT. The link is at capacity from the first sample on after which

* the queue is never seen empty for one base RTT (the RTT of the path with empty queues): every sample of
  that span shows a backlog, and there are at least three of them. A window below the bandwidth-delay
  product makes bursts that leave the queue empty between them within each RTT; one that fills the path no
  longer does;
* and the link was busy all that time: the bytes sent over the span are at least 95 % of what the rate
  allows (the qdisc counts a frame with its Ethernet header, and so does TBF's rate). A queue that stands
  while the link sends nothing, or that emptied and refilled between two samples, does not count.

Null where no span fits. The answer is exact to one sampling interval; it is the time at the bottleneck,
which the client sees one one-way delay later and the sender one RTT later.
"""

import polars as pl

BUSY_SHARE = 0.95
SAMPLES_AT_LEAST = 3


def capacity_s(qdisc: pl.DataFrame, base_rtt_ms: float, rate_mbps: float) -> float | None:
    """First instant from which the queue stays filled for one base RTT while the link is busy."""
    for begin_s in _filled_spans(qdisc, base_rtt_ms)["begin_s"]:
        span = qdisc.filter(pl.col("t_s").is_between(begin_s, begin_s + base_rtt_ms / 1000))
        if busy_share(span, rate_mbps) >= BUSY_SHARE:
            return float(begin_s)
    return None


def busy_share(qdisc: pl.DataFrame, rate_mbps: float) -> float:
    """Bytes sent from the first to the last sample over what the rate allows in that time."""
    first, last = qdisc.row(0, named=True), qdisc.row(-1, named=True)
    could_send_bytes = (last["t_s"] - first["t_s"]) * rate_mbps * 1e6 / 8
    return float((last["sent_bytes"] - first["sent_bytes"]) / could_send_bytes)


def _filled_spans(qdisc: pl.DataFrame, base_rtt_ms: float) -> pl.DataFrame:
    """Unbroken sequences of samples with a backlog that last a base RTT or longer, oldest first."""
    spans = (
        qdisc.lazy()
        .with_columns(filled=pl.col("backlog_bytes") > 0)
        .with_columns(span=pl.col("filled").rle_id())
        .filter("filled")
        .group_by("span", maintain_order=True)
        .agg(begin_s=pl.col("t_s").first(), end_s=pl.col("t_s").last(), samples=pl.len())
    )
    lasting_s = pl.col("end_s") - pl.col("begin_s")
    return spans.filter((lasting_s >= base_rtt_ms / 1000) & (pl.col("samples") >= SAMPLES_AT_LEAST)).collect()
