# SPDX-License-Identifier: GPL-2.0-or-later
"""packets.parquet: every frame of the client's capture, by flow and direction, with unwrapped relative sequences."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.tables import tcp_headers
from lab.tables.columns import SYN_S, Column, Columns, schema
from lab.tables.pcapng import Frames, read_pcapng

SYN = 0x002
ACK = 0x010
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Capture:
    """The packets of a trial, and what its other tables are aligned with."""

    packets: pl.DataFrame
    start_ns: int  # epoch time of the first data flow's SYN: t_s = 0
    client_ports: dict[int, int]  # client's port -> flow
    server_isn: dict[int, int]  # flow -> the server's initial sequence number


def read_packets(file: Path, server_port: int, snaplen_bytes: int) -> Capture:
    """Decode a client's capture of iperf3: its first connection is the control connection, flow 0."""
    frames = read_pcapng(file, snaplen_bytes)
    tcp_rows = np.flatnonzero(tcp_headers.is_tcp(frames.head))
    heads = frames.head if len(tcp_rows) == len(frames.head) else frames.head[tcp_rows]
    fields = tcp_headers.segments(heads)
    _refuse_broken(tcp_rows[fields["len"] < 0], file)
    to_client = fields["src_port"] == server_port
    port = np.where(to_client, fields["dst_port"], fields["src_port"])
    ports = _connections(fields, server_port)
    if len(ports) < 2:
        raise UserError(f"{file}: must hold a control connection and a data connection on port {server_port}")
    table = _rows(frames, tcp_rows, fields, to_client, port, ports)
    start_ns = int(frames.time_ns[tcp_rows][(port == ports[1]) & (fields["flags"] & SYN > 0)][0])
    table = table.with_columns(((pl.col("time_ns") - start_ns) / 1e9).alias("t_s"))
    isn = {flow: _isn(fields, (port == p) & to_client) for flow, p in enumerate(ports)}
    return Capture(
        table.select(*COLUMNS).cast(schema(COLUMNS)), start_ns, {p: flow for flow, p in enumerate(ports)}, isn
    )


NOT_TCP = "null in a frame that is not TCP"
COLUMNS: Columns = {
    "t_s": SYN_S,
    "flow": Column(pl.UInt8, f"0 iperf3's control connection, 1 the download; {NOT_TCP}, or of another connection"),
    "to_client": Column(pl.Boolean, f"whether the server sent the frame; {NOT_TCP}"),
    "frame_bytes": Column(pl.UInt32, "length on the wire, with the Ethernet header"),
    "seq_bytes": Column(pl.Int64, f"sequence number, counted from the direction's SYN, without wraps; {NOT_TCP}"),
    "ack_bytes": Column(pl.Int64, f"acknowledgement number, counted so from the other SYN; {NOT_TCP}, or without ACK"),
    "len_bytes": Column(pl.UInt32, f"payload; {NOT_TCP}"),
    "flags": Column(pl.UInt16, f"TCP flags, as in the header (SYN 2, ACK 16); {NOT_TCP}"),
    "window_bytes": Column(pl.Int64, f"receive window, scaled; {NOT_TCP}"),
    "tsval": Column(pl.UInt32, f"time stamp of the sender (RFC 7323); {NOT_TCP}, or without the option", "ms"),
    "tsecr": Column(pl.UInt32, f"time stamp echoed; {NOT_TCP}, or without the option", "ms"),
    "sack_edges": Column(pl.UInt8, f"number of SACK blocks; {NOT_TCP}", ""),
}


def _refuse_broken(rows: NDArray[np.intp], file: Path) -> None:
    if len(rows):
        raise UserError(f"{file}: frame={rows[0] + 1}: must be a TCP segment no shorter than its headers")


def _connections(fields: dict[str, Numbers], server_port: int) -> list[int]:
    """Return the client's ports in the order of their connections."""
    syn = ((fields["flags"] & (SYN | ACK)) == SYN) & (fields["dst_port"] == server_port)
    ports, first = np.unique(fields["src_port"][syn], return_index=True)
    return [int(p) for p in ports[np.argsort(first)]]


def _isn(fields: dict[str, Numbers], side: NDArray[np.bool_]) -> int:
    syn = side & (fields["flags"] & SYN > 0)
    return int(fields["seq"][syn][0]) if syn.any() else 0


def _rows(
    frames: Frames,
    tcp_rows: NDArray[np.intp],
    fields: dict[str, Numbers],
    to_client: NDArray[np.bool_],
    port: Numbers,
    ports: list[int],
) -> pl.DataFrame:
    """Lay the fields out by frame; what is not TCP keeps nulls."""
    tcp = pl.DataFrame(
        {
            "to_client": to_client,
            **_relative(fields, to_client, port, ports),
            "len_bytes": fields["len"],
            "flags": fields["flags"],
            "tsval": fields["tsval"],
            "tsecr": fields["tsecr"],
            "sack_edges": np.maximum(fields["sack_edges"], 0),
        }
    )
    whole = pl.DataFrame({"time_ns": frames.time_ns, "frame_bytes": frames.wire_bytes})
    known = [
        pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("flow", "ack_bytes", "tsval", "tsecr")
    ]
    return whole.hstack(_spread(tcp, tcp_rows, whole.height)).with_columns(known)


def _spread(table: pl.DataFrame, rows: NDArray[np.intp], height: int) -> pl.DataFrame:
    """Move a table's rows to their places among `height`; the others are null."""
    if table.height == height:
        return table
    place = np.full(height, table.height)
    place[rows] = np.arange(table.height)
    return pl.concat([table, table.clear(1)]).select(pl.all().gather(place))


def _relative(
    fields: dict[str, Numbers], to_client: NDArray[np.bool_], port: Numbers, ports: list[int]
) -> dict[str, Numbers]:
    """Return flow, unwrapped sequences and scaled windows; each direction of a connection counts from its own SYN."""
    flow, seq, ack, window = (np.full(len(port), -1, dtype=np.int64) for _ in range(4))
    syn, has_ack = fields["flags"] & SYN > 0, fields["flags"] & ACK > 0
    for number, p in enumerate(ports):
        flow[port == p] = number
        for direction in (False, True):
            side, other = ((port == p) & (to_client == way) for way in (direction, not direction))
            acking = side & has_ack
            seq[side] = unwrap(fields["seq"][side], _isn(fields, side))
            ack[acking] = unwrap(fields["ack"][acking], _isn(fields, other))
            scale = max(int(fields["window_scale"][side].max(initial=0)), 0)
            window[side] = fields["window"][side] << np.where(syn[side], 0, scale)
    return {"flow": flow, "seq_bytes": seq, "ack_bytes": ack, "window_bytes": window}


def unwrap(numbers: Numbers, initial: int) -> Numbers:
    """Continue 32-bit sequence numbers past their wrap, relative to an initial one.

    Each is taken to be within 2^31 of the one before it.
    """
    if not len(numbers):
        return numbers
    steps = np.diff(numbers, prepend=initial)
    return np.cumsum((steps + 2**31) % 2**32 - 2**31)
