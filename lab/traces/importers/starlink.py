# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Starlink dish tells over gRPC: the CSV of starlink-grpc-tools, and LEOViz's."""

from pathlib import Path

import polars as pl

from lab.traces.importers.clock import counted, dated, ordered, with_holes
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.table import Table, read_table
from lab.traces.recording import Recording

CLOCK = "datetimestamp_utc"
LATENCY, DROP = "pop_ping_latency_ms", "pop_ping_drop_rate"
DOWN, UP = "downlink_throughput_bps", "uplink_throughput_bps"
NO_ANSWER = ("", "-1", "-1.0")
UNREACHABLE = "DISH_UNREACHABLE"
USAGE = "Throughput is what users happened to send: usage, no capacity."


def fits(head: Head) -> bool:
    """Recognise the clock and the dish's own column names."""
    return head.header >= {CLOCK, LATENCY, DROP, DOWN, UP}


def fits_leoviz(head: Head) -> bool:
    """Recognise LEOViz's column names."""
    return head.header >= {"timestamp", "popPingLatencyMs", "downlinkThroughputBps", "uplinkThroughputBps"}


def read(path: Path) -> Recording:
    """Read status or bulk history, a row a reading; what an unreachable dish did not tell is missing."""
    table = read_table(path, short_after=UNREACHABLE)
    frame, notes = ordered(table, CLOCK, dated(table, CLOCK), dish_columns(table))
    frame, holes = with_holes(frame)
    return Recording(frame, "series", "usage", "starlink-grpc", path.name, (USAGE, *notes, *holes))


def dish_columns(table: Table, prefix: str = "") -> list[pl.Series]:
    """Read RTT, loss and both rates; a second in which every ping was dropped has no RTT."""
    loss = table.column(prefix + DROP, "loss_pct", scale=100.0, missing=("",))
    rtt = table.column(prefix + LATENCY, "rtt_ms", missing=NO_ANSWER)
    answered = pl.select(pl.when((loss == 100.0).fill_null(False).not_()).then(rtt).alias("rtt_ms")).to_series()
    down = table.column(prefix + DOWN, "rate_down_mbps", scale=1e-6, missing=("",))
    up = table.column(prefix + UP, "rate_up_mbps", scale=1e-6, missing=("",))
    return [down, up, answered, loss]


def read_leoviz(path: Path) -> Recording:
    """Read LEOViz's status rows; it does not store the drop rate."""
    table = read_table(path)
    columns = [
        table.column("downlinkThroughputBps", "rate_down_mbps", scale=1e-6, missing=("",)),
        table.column("uplinkThroughputBps", "rate_up_mbps", scale=1e-6, missing=("",)),
        table.column("popPingLatencyMs", "rtt_ms", missing=NO_ANSWER),
    ]
    frame, notes = ordered(table, "timestamp", counted(table, "timestamp"), columns)
    frame, holes = with_holes(frame)
    return Recording(frame, "series", "usage", "leoviz", path.name, (USAGE, *notes, *holes))


IMPORTERS = (
    Importer("starlink-grpc", "CSV of starlink-grpc-tools", fits, read),
    Importer("leoviz", "CSV of LEOViz's dish status", fits_leoviz, read_leoviz),
)
