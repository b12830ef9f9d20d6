# SPDX-License-Identifier: GPL-2.0-or-later
"""qdisc.parquet: what the bottleneck's qdisc was, sample by sample (lab/kernel/qdisc/qdisc_sampler.c)."""

import polars as pl

from lab.tables.columns import SYN_S, Column, Columns
from lab.tables.trace import Events

SAMPLE_EVENT = "qdisc_sampler:qdisc_sample"
COUNTS: Columns = {
    "backlog_bytes": Column(pl.Int64, "bytes queued"),
    "backlog_pkts": Column(pl.Int64, "packets queued"),
    "sent_bytes": Column(pl.Int64, "bytes sent since the qdisc exists"),
    "sent_pkts": Column(pl.Int64, "packets sent since the qdisc exists"),
    "drops_pkts": Column(pl.Int64, "packets dropped since the qdisc exists"),
}
COLUMNS: Columns = {"t_s": SYN_S, **COUNTS}


def qdisc_table(events: Events, start_ns: int) -> pl.DataFrame:
    """Return the samples; sent and drops count since the qdisc was made."""
    samples = events[SAMPLE_EVENT]
    t_s = (samples["t_ns"].astype("int64") - start_ns) / 1e9
    return pl.DataFrame({"t_s": t_s} | {name: samples[name].astype("int64") for name in COUNTS})
