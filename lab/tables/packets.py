# SPDX-License-Identifier: GPL-2.0-or-later
"""packets.parquet: every frame of the client's capture, by flow and direction, with unwrapped relative sequences.

A capture is decoded piece by piece, so that memory does not grow with it; each direction of a connection goes on where
the piece before left it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.tables import tcp_headers
from lab.tables.columns import SYN_S, Column, Columns, schema
from lab.tables.pcapng import Frames, frames_of, joined

SYN = 0x002
ACK = 0x010
Numbers = NDArray[np.int64]
Fields = dict[str, Numbers]


@dataclass(frozen=True)
class Capture:
    """The packets of a trial, and what its other tables are aligned with."""

    packets: pl.DataFrame
    start_ns: int  # epoch time of the first data flow's SYN: t_s = 0
    client_ports: dict[int, int]  # client's port -> flow
    server_isn: dict[int, int]  # flow -> the server's initial sequence number


def read_packets(file: Path, server_port: int, snaplen_bytes: int) -> Capture:
    """Decode a client's capture of iperf3: its first connection is the control connection, flow 0."""
    decoder = PacketDecoder(file, server_port, snaplen_bytes)
    packets = pl.concat(decoder.pieces())
    return Capture(packets, decoder.start_ns, decoder.client_ports, decoder.server_isn)


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


@dataclass
class _Side:
    """One direction of a connection: how far its numbers have come, raw and unwrapped, and its window's scale."""

    isn: int | None = None
    scale: int = 0
    ends: dict[str, tuple[int, int]] = field(default_factory=dict)

    def unwrapped(self, name: str, numbers: Numbers, isn: int | None) -> Numbers:
        """Continue its sequence or acknowledgement numbers, which count from an initial one."""
        raw, known = self.ends.get(name, (isn or 0, 0))
        found = unwrap(numbers, raw) + known
        if len(found):
            self.ends[name] = int(numbers[-1]), int(found[-1])
        return found


class PacketDecoder:
    """Decodes a capture; what its tables are aligned with is there once `pieces` has ended."""

    def __init__(self, file: Path, server_port: int, snaplen_bytes: int) -> None:
        self.file, self.server_port, self.snaplen_bytes = file, server_port, snaplen_bytes
        self.start_ns = self.before = 0  # before: frames of the pieces that are decoded
        self.sides: dict[int, tuple[_Side, _Side]] = {}  # by the client's port, in the order of connections

    @property
    def client_ports(self) -> dict[int, int]:
        """Return the flow of each client's port."""
        return {port: flow for flow, port in enumerate(self.sides)}

    @property
    def server_isn(self) -> dict[int, int]:
        """Return the server's initial sequence number by flow."""
        return {flow: to_client.isn or 0 for flow, (_, to_client) in enumerate(self.sides.values())}

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the frames, piece by piece: the first one reaches as far as the data connection."""
        held: list[Frames] = []
        for frames in frames_of(self.file, self.snaplen_bytes):
            rows, fields = self._segments(frames)
            for port in _connections(fields, self.server_port):
                self.sides.setdefault(port, (_Side(), _Side()))
            if len(self.sides) < 2:
                held.append(frames)
                continue
            whole = joined([*held, frames])
            yield self._decoded(whole, *(self._segments(whole) if held else (rows, fields)))
            self.before += len(whole.head)
            held.clear()
        if len(self.sides) < 2:
            rule = f"must hold a control connection and a data connection on port {self.server_port}"
            raise UserError(f"{self.file}: {rule}")

    def _segments(self, frames: Frames) -> tuple[NDArray[np.intp], Fields]:
        """Return which frames are TCP, and their fields."""
        rows = np.flatnonzero(tcp_headers.is_tcp(frames.head))
        fields = tcp_headers.segments(frames.head if len(rows) == len(frames.head) else frames.head[rows])
        return rows, fields

    def _decoded(self, frames: Frames, rows: NDArray[np.intp], fields: Fields) -> pl.DataFrame:
        """Lay the fields out by frame; what is not TCP keeps nulls."""
        if len(broken := rows[fields["len"] < 0]):
            frame = self.before + broken[0] + 1
            raise UserError(f"{self.file}: frame={frame}: must be a TCP segment no shorter than its headers")
        to_client = fields["src_port"] == self.server_port
        port = np.where(to_client, fields["dst_port"], fields["src_port"])
        if not self.start_ns:
            syn = (port == list(self.sides)[1]) & (fields["flags"] & SYN > 0)
            self.start_ns = int(frames.time_ns[rows][syn][0])
        return self._table(frames, rows, {**fields, "to_client": to_client, **self._relative(fields, to_client, port)})

    def _table(self, frames: Frames, rows: NDArray[np.intp], fields: dict[str, NDArray[Any]]) -> pl.DataFrame:
        names = ("to_client", "flow", "seq_bytes", "ack_bytes", "window_bytes", "flags", "tsval", "tsecr")
        tcp = {name: fields[name] for name in names}
        tcp |= {"len_bytes": fields["len"], "sack_edges": np.maximum(fields["sack_edges"], 0)}
        whole = pl.DataFrame({"t_s": (frames.time_ns - self.start_ns) / 1e9, "frame_bytes": frames.wire_bytes})
        known = [
            pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name)
            for name in ("flow", "ack_bytes", "tsval", "tsecr")
        ]
        table = whole.hstack(_spread(pl.DataFrame(tcp), rows, whole.height)).with_columns(known)
        return table.select(*COLUMNS).cast(schema(COLUMNS))

    def _relative(self, fields: Fields, to_client: NDArray[np.bool_], port: Numbers) -> Fields:
        """Return flow, unwrapped sequences and scaled windows; each direction counts from its own SYN."""
        flow, seq, ack, window = (np.full(len(port), -1, dtype=np.int64) for _ in range(4))
        syn, has_ack = fields["flags"] & SYN > 0, fields["flags"] & ACK > 0
        for number, (p, sides) in enumerate(self.sides.items()):
            flow[port == p] = number
            masks = [(port == p) & (to_client == way) for way in (False, True)]
            for side, mask in zip(sides, masks, strict=True):
                if side.isn is None and (first := np.flatnonzero(mask & syn)).size:
                    side.isn = int(fields["seq"][first[0]])
                side.scale = max(side.scale, int(fields["window_scale"][mask].max(initial=0)))
            for side, other, mask in zip(sides, reversed(sides), masks, strict=True):
                acking = mask & has_ack
                seq[mask] = side.unwrapped("seq", fields["seq"][mask], side.isn)
                ack[acking] = side.unwrapped("ack", fields["ack"][acking], other.isn)
                window[mask] = fields["window"][mask] << np.where(syn[mask], 0, side.scale)
        return {"flow": flow, "seq_bytes": seq, "ack_bytes": ack, "window_bytes": window}


def _connections(fields: Fields, server_port: int) -> list[int]:
    """Return the client's ports in the order of their connections."""
    syn = ((fields["flags"] & (SYN | ACK)) == SYN) & (fields["dst_port"] == server_port)
    ports, first = np.unique(fields["src_port"][syn], return_index=True)
    return [int(p) for p in ports[np.argsort(first)]]


def _spread(table: pl.DataFrame, rows: NDArray[np.intp], height: int) -> pl.DataFrame:
    """Move a table's rows to their places among `height`; the others are null."""
    if table.height == height:
        return table
    place = np.full(height, table.height)
    place[rows] = np.arange(table.height)
    return pl.concat([table, table.clear(1)]).select(pl.all().gather(place))


def unwrap(numbers: Numbers, initial: int) -> Numbers:
    """Continue 32-bit sequence numbers past their wrap, relative to an initial one.

    Each is taken to be within 2^31 of the one before it.
    """
    if not len(numbers):
        return numbers
    steps = np.diff(numbers, prepend=initial)
    return np.cumsum((steps + 2**31) % 2**32 - 2**31)
