# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark's own dissection of a capture, in the columns of packets.parquet."""

import io
import subprocess
from pathlib import Path

import polars as pl

from lab.base import sandbox

FIELDS = {
    "time": "frame.time_epoch",
    "frame_bytes": "frame.len",
    "src_port": "tcp.srcport",
    "flow": "tcp.stream",
    "seq_bytes": "tcp.seq",
    "ack_bytes": "tcp.ack",
    "len_bytes": "tcp.len",
    "flags": "tcp.flags",
    "window_bytes": "tcp.window_size",
    "tsval": "tcp.options.timestamp.tsval",
    "tsecr": "tcp.options.timestamp.tsecr",
    "sack_edges": "tcp.options.sack_le",
}
ACK = 0x010


def dissect(world: Path, capture: Path, server_port: int) -> pl.DataFrame:
    """Return tshark's fields of every frame; time_ns is since the epoch, sequences are relative and wrap at 2^32."""
    words = [word for field in FIELDS.values() for word in ("-e", field)]
    argv = ["tshark", "-n", "-r", f"/trial/{capture.name}", "-T", "fields", "-E", "occurrence=a", *words]
    command = sandbox.command(world, argv, read_only={capture.parent: "/trial"})
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    table = pl.read_csv(
        io.StringIO(done.stdout), separator="\t", has_header=False, new_columns=list(FIELDS), infer_schema=False
    )
    return table.select(
        time_ns=pl.col("time").str.replace(".", "", literal=True).cast(pl.Int64),
        frame_bytes=pl.col("frame_bytes").cast(pl.UInt32),
        flow=pl.col("flow").cast(pl.UInt8),
        to_client=pl.col("src_port").cast(pl.Int64) == server_port,
        seq_bytes=pl.col("seq_bytes").cast(pl.Int64),
        ack_bytes=_where_acked(pl.col("ack_bytes").cast(pl.Int64)),
        len_bytes=pl.col("len_bytes").cast(pl.UInt32),
        flags=_flags(),
        window_bytes=pl.col("window_bytes").cast(pl.Int64),
        tsval=pl.col("tsval").cast(pl.UInt32),
        tsecr=pl.col("tsecr").cast(pl.UInt32),
        sack_edges=pl.when(pl.col("flow").is_not_null()).then(_count(pl.col("sack_edges"))),
    )


def _flags() -> pl.Expr:
    return pl.col("flags").str.strip_prefix("0x").str.to_integer(base=16).cast(pl.UInt16)


def _where_acked(ack: pl.Expr) -> pl.Expr:
    """tshark shows 0 where the flag is not set."""
    return pl.when(_flags() & ACK > 0).then(ack)


def _count(listed: pl.Expr) -> pl.Expr:
    return listed.str.split(",").list.len().fill_null(0).cast(pl.UInt8)
