# SPDX-License-Identifier: GPL-2.0-or-later
"""A download over QUIC as the tables of any download: packets from the capture, the rest from both ends' logs.

QUIC encrypts what TCP shows: of a packet the capture knows its time and size. Its place in the stream is in the
client's log, which has each datagram in the order of its arrival, as the capture has. Bytes are counted from 1, as TCP
counts them from its SYN.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.node.plan import FlowPlan
from lab.tables import acks, exits, packets, quic_log
from lab.tables.columns import schema
from lab.tables.downloads import FLOW
from lab.tables.pcapng import read_pcapng
from lab.tables.stream import Received
from lab.tables.packets import ACK, SYN
from lab.tables.tcp_headers import ETHERNET_BYTES, big_endian
from lab.tables.trial_json import Download

UDP = 17
UDP_BYTES = 8
HEAD_BYTES = 64  # Ethernet, IP with options, UDP
CAPTURED = "client.pcapng"
ENDS = ("server", "client")
QLOGS = tuple(f"{end}.qlog.zst" for end in ENDS)
AGREE_NS = 1_000_000  # between the capture's time of a datagram and the client's
Numbers = NDArray[np.int64]


class Ends:
    """What the capture and both ends recorded of a download."""

    def __init__(self, folder: Path, flow: FlowPlan) -> None:
        self.folder, self.full_bytes = folder, flow["quic"]["datagram_bytes"]
        frames = read_pcapng(folder / CAPTURED, HEAD_BYTES)
        ip_bytes = (frames.head[:, ETHERNET_BYTES] & 0x0F).astype(np.int64) * 4
        udp = (big_endian(frames.head, 12, 2) == 0x0800) & (frames.head[:, ETHERNET_BYTES + 9] == UDP) & (ip_bytes == 20)
        source, target = (big_endian(frames.head, ETHERNET_BYTES + 20 + at, 2) for at in (0, 2))
        own = udp & ((source == flow["port"]) | (target == flow["port"]))
        if not own.any():
            raise UserError(f"{folder / CAPTURED}: must hold datagrams of port {flow['port']}")
        self.to_client = (source == flow["port"])[own]
        self.time_ns, self.frame_bytes = frames.time_ns[own], frames.wire_bytes[own]
        self.bytes: Numbers = self.frame_bytes.astype(np.int64) - ETHERNET_BYTES - 20 - UDP_BYTES

    @property
    def start_epoch_ns(self) -> int:
        """Return when the client sent its first datagram: what a SYN is to TCP."""
        return int(self.time_ns[~self.to_client][0])

    @property
    def largest_bytes(self) -> int:
        """Return the largest datagram that reached the client."""
        return int(self.bytes[self.to_client].max(initial=0))

    @cached_property
    def client(self) -> quic_log.ClientLog:
        """The client's log."""
        return quic_log.read_client(self.folder / "client.rows")

    @property
    def differing_pkts(self) -> int:
        """Count datagrams of the client's log that the capture has otherwise, or not; it may have some after its end."""
        return sum(
            _differing(self.bytes[side], logged) for side, logged in (
                (self.to_client, self.client.got["bytes"].to_numpy()), (~self.to_client, self.client.sent["bytes"].to_numpy())
            )
        )

    def tables(self, start_ns: int) -> dict[str, pl.DataFrame]:
        """Return all tables but those of the link; `start_ns` is t_s = 0 on the ends' clock."""
        server = quic_log.read_server(self.folder / "server.rows")
        at = quic_log.Clock(start_ns, self.full_bytes)
        return {
            "packets": self._packets(),
            "acks": at.ack_table(server),
            "ca_states": pl.DataFrame(schema=schema(acks.STATES)),
            "retransmits": at.loss_table(server),
            "bins": at.bin_table(server),
            "exits": at.exit_table(server),
        }

    def _packets(self) -> pl.DataFrame:
        rows = len(self.bytes)
        stream = Received(self.client)
        columns = {name: np.full(rows, -1, dtype=np.int64) for name in ("seq_bytes", "ack_bytes", "len_bytes", "sack_edges")}
        down, up = np.flatnonzero(self.to_client)[: len(stream.begin)], np.flatnonzero(~self.to_client)[: len(stream.had)]
        columns["len_bytes"][:] = 0
        columns["seq_bytes"][down] = np.where(stream.length > 0, stream.begin + 1, -1)[: len(down)]
        columns["len_bytes"][down] = stream.length[: len(down)]
        columns["ack_bytes"][up] = stream.had[: len(up)] + 1
        columns["sack_edges"][up] = stream.pieces[: len(up)]
        flags = np.full(rows, ACK, dtype=np.int64)
        flags[np.flatnonzero(~self.to_client)[:1]] = SYN
        flags[np.flatnonzero(self.to_client)[:1]] = SYN | ACK
        table = pl.DataFrame(
            {
                "t_s": (self.time_ns - self.start_epoch_ns) / 1e9,
                "flow": np.full(rows, FLOW),
                "to_client": self.to_client,
                "frame_bytes": self.frame_bytes,
                **columns,
                "flags": flags,
            }
        )
        known = [pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("seq_bytes", "ack_bytes")]
        none = [pl.lit(None).alias(name) for name in ("window_bytes", "tsval", "tsecr")]
        table = table.with_columns(*known, *none, pl.col("sack_edges").clip(0))
        return table.select(*packets.COLUMNS).cast(schema(packets.COLUMNS))


def _differing(captured: Numbers, logged: Numbers) -> int:
    both = min(len(captured), len(logged))
    return int((captured[:both] != logged[:both]).sum()) + len(logged) - both


def with_losses(measured: Sequence[Download], tables: dict[str, pl.DataFrame]) -> list[Download]:
    """Return the downloads with the packets that the sender declared lost: QUIC sends their data again in new ones."""
    lost = tables["retransmits"]
    return [
        {**each, "retransmits_pkts": lost.filter((pl.col("flow") == each["flow"]) & (pl.col("t_s") <= each["end_s"])).height}
        for each in measured
    ]


def keep_qlogs(folder: Path) -> None:
    """Keep both ends' qlogs, compressed."""
    for end in ENDS:
        source = folder / f"{end}.qlog"
        if source.exists():
            with pa.output_stream(str(folder / f"{end}.qlog.zst"), compression="zstd") as sink:
                sink.write(source.read_bytes())
