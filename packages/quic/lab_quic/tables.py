# SPDX-License-Identifier: GPL-2.0-or-later
"""A download over QUIC as the tables of any download: packets from the capture, the rest from both ends' logs.

QUIC encrypts what TCP shows: of a packet the capture knows its time and size. Its place in the stream is in the
client's log, which has each datagram in the order of its arrival, as the capture has. Bytes are counted from 1, as TCP
counts them from its SYN.
"""

from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lab.base.errors import UserError
from lab.base.plain_file import GIGABYTE, read_plain
from lab.node.plan import FlowPlan
from lab.node.record import NodeRecord
from lab.senders.records import RawTrial, check
from lab.senders.traced import CAPTURED, link_tables
from lab.tables import acks, packets
from lab.tables.columns import schema
from lab.tables.downloads import FLOW
from lab.tables.node_json import on_trace_clock
from lab.tables.packets import ACK, SYN
from lab.tables.pcapng import read_pcapng
from lab.tables.pieces import Frame
from lab.tables.tcp_headers import ETHERNET_BYTES, big_endian
from lab.tables.trace import read_events
from lab.tables.trial_json import Check, Download
from lab_quic import log
from lab_quic.log import Received

# Of a qlog, JSON-SEQ (RFC 7464) with a record a line, only packets of data (1RTT) are read: a line's fields are few and
# in the same order.
MOST_MS = 2**32  # of a time stamp
FIELDS = r'"time":(?<time>[0-9.e+-]+),"name":"transport:packet_NAME".*"1RTT","packet_number":(?<pn>\d+)'
UDP = 17
IP_BYTES, UDP_BYTES = 20, 8
HEADERS_BYTES = ETHERNET_BYTES + IP_BYTES + UDP_BYTES
NEGOTIATION, VERSION_2 = 0, 0x6B3343CF  # of QUIC: of a packet of version negotiation (RFC 8999); RFC 9369
HEAD_BYTES = 64  # Ethernet, IP with options, UDP
ENDS = ("server", "client")
UNKNOWN = -1
MAY_LACK = ("seq_bytes", "ack_bytes", "tsval")
Numbers = NDArray[np.int64]


def sent_ms(server: Path, client: Path, datagrams: int) -> pl.Series:
    """Return the tick of the server's clock, in ms, at which each of the datagrams was sent that the client got.

    Behind the handshake a datagram holds one packet of data: the last ones are counted from the end. Null for others.
    """
    sent = _packets(server, "sent").unique("pn", keep="first")
    got = _packets(client, "received").tail(datagrams).select("pn")
    known = got.join(sent, on="pn", how="left", maintain_order="left")["time"]
    first = pl.Series("time", [None] * (datagrams - len(known)), dtype=pl.Float64)
    return pl.concat([first, known]).floor().cast(pl.UInt32)


def _packets(file: Path, name: str) -> pl.DataFrame:
    text = read_plain(file, 8 * GIGABYTE).decode(errors="replace")
    lines = pl.Series("line", text.splitlines(), pl.String).to_frame()
    found = lines.select(pl.col("line").str.extract_groups(FIELDS.replace("NAME", name))).unnest("line")
    table = found.drop_nulls().cast({"time": pl.Float64, "pn": pl.Int64}, strict=False)
    if not (table["time"].is_between(0, MOST_MS, closed="left") & table["pn"].is_not_null()).fill_null(False).all():
        raise UserError(f"{file}: packet: must have a number, and a time from 0 to {MOST_MS} ms")
    return table


QLOGS = tuple(f"{end}.qlog.zst" for end in ENDS)


class Datagrams:
    """What the capture has of a download over UDP."""

    def __init__(self, folder: Path, port: int) -> None:
        frames = read_pcapng(folder / CAPTURED, HEAD_BYTES)
        ip_bytes = (frames.head[:, ETHERNET_BYTES] & 0x0F).astype(np.int64) * 4
        ipv4 = (big_endian(frames.head, 12, 2) == 0x0800) & (ip_bytes == IP_BYTES)
        udp = ipv4 & (frames.head[:, ETHERNET_BYTES + 9] == UDP)
        source, target = (big_endian(frames.head, ETHERNET_BYTES + IP_BYTES + at, 2) for at in (0, 2))
        own = udp & ((source == port) | (target == port))
        if not own.any():
            raise UserError(f"{folder / CAPTURED}: must hold datagrams of port {port}")
        self.to_client = (source == port)[own]
        first = frames.head[own, HEADERS_BYTES]
        version = big_endian(frames.head[own], HEADERS_BYTES + 1, 4)
        self.long_header = first & 0x80 > 0
        self._negotiates = self.to_client & self.long_header & (version == NEGOTIATION)
        of_retry = first >> 4 & 3 == np.where(version == VERSION_2, 0, 3)
        self._retries = self.to_client & self.long_header & of_retry & ~self._negotiates
        self.time_ns, self.frame_bytes = frames.time_ns[own], frames.wire_bytes[own]
        self.bytes: Numbers = self.frame_bytes.astype(np.int64) - HEADERS_BYTES

    @property
    def start_epoch_ns(self) -> int:
        """Return when the client sent its first datagram: what a SYN is to TCP."""
        return int(self.time_ns[~self.to_client][0])

    @property
    def connects_s(self) -> float:
        """Return when the client's QUIC connection began: behind the first Retry, or a version negotiation.

        Of others that follow, as of a first datagram that was sent again, a client takes no notice (RFC 9000, 17.2.5).
        """
        answers = next((each for each in (self._retries, self._negotiates) if each.any()), None)
        if answers is None:
            return 0.0
        begun = ~self.to_client & (np.cumsum(answers) > 0)
        return (int(self.time_ns[begun][0]) - self.start_epoch_ns) / 1e9 if begun.any() else 0.0

    @property
    def largest_bytes(self) -> int:
        """Return the largest datagram that reached the client."""
        return int(self.bytes[self.to_client].max(initial=0))

    def flags(self) -> Numbers:
        """Return the flags that TCP would have: the first datagram each way stands for SYN and SYN-ACK."""
        flags: Numbers = np.full(len(self.bytes), ACK, dtype=np.int64)
        flags[np.flatnonzero(~self.to_client)[:1]] = SYN
        flags[np.flatnonzero(self.to_client)[:1]] = SYN | ACK
        return flags


class Ends(Datagrams):
    """What the capture and both ends recorded of a download.

    `spare_bytes` is what the largest datagram may lack: where each object of a workload is smaller than a datagram.
    """

    def __init__(self, folder: Path, flow: FlowPlan) -> None:
        super().__init__(folder, flow["port"])
        self.folder, self.full_bytes = folder, flow["quic"]["datagram_bytes"]
        exchanges = flow["workload"]["exchanges"] if "workload" in flow else []
        sizes = [size for each in exchanges for size in each["objects_bytes"]]
        self.spare_bytes = max(self.full_bytes - max(sizes), 0) if sizes else 0

    @cached_property
    def client(self) -> log.ClientLog:
        return log.read_client(self.folder / "client.rows")

    @property
    def differing_pkts(self) -> int:
        """Count datagrams of the client's log that the capture has otherwise, or not; it may have more at the end."""
        got, sent = (table["bytes"].to_numpy() for table in (self.client.got, self.client.sent))
        return _differing(self.bytes[self.to_client], got) + _differing(self.bytes[~self.to_client], sent)

    def tables(self, start_ns: int) -> dict[str, pl.DataFrame]:
        """Return all tables but those of the link; `start_ns` is t_s = 0 on the ends' clock."""
        server = log.read_server(self.folder / "server.rows")
        at = log.Clock(start_ns, self.full_bytes)
        return {
            "packets": self._packets(),
            "acks": at.ack_table(server),
            "ca_states": pl.DataFrame(schema=schema(acks.STATES)),
            "retransmits": at.loss_table(server),
            "bins": at.bin_table(server),
            "exits": at.exit_table(server),
        }

    def _packets(self) -> pl.DataFrame:
        stream = Received(self.client)
        got = len(stream.begin)
        ticks_ms = sent_ms(self.folder / "server.qlog", self.folder / "client.qlog", got)
        down, up = partial(self._spread, self.to_client), partial(self._spread, ~self.to_client)
        table = pl.DataFrame(
            {
                "t_s": (self.time_ns - self.start_epoch_ns) / 1e9,
                "flow": np.full(len(self.bytes), FLOW),
                "to_client": self.to_client,
                "frame_bytes": self.frame_bytes,
                "seq_bytes": down(np.where(stream.length > 0, stream.begin + 1, UNKNOWN)),
                "ack_bytes": up(stream.had + 1),
                "len_bytes": np.maximum(down(stream.length), 0),
                "flags": self.flags(),
                "tsval": down(ticks_ms.fill_null(UNKNOWN).to_numpy()),
                "sack_edges": np.maximum(up(stream.pieces), 0),
            }
        )
        known = [pl.when(pl.col(name) != UNKNOWN).then(pl.col(name)).alias(name) for name in MAY_LACK]
        none = [pl.lit(None).alias(name) for name in ("window_bytes", "tsecr")]
        return table.with_columns(*known, *none).select(*packets.COLUMNS).cast(schema(packets.COLUMNS))

    def _spread(self, side: NDArray[np.bool_], values: Numbers) -> Numbers:
        """Lay what an end logged of its datagrams, in order, out by captured frame."""
        column: Numbers = np.full(len(self.bytes), UNKNOWN, dtype=np.int64)
        places = np.flatnonzero(side)[: len(values)]
        column[places] = values[: len(places)]
        return column


def _differing(captured: Numbers, logged: Numbers) -> int:
    both = min(len(captured), len(logged))
    return int((captured[:both] != logged[:both]).sum()) + len(logged) - both


def datagrams(over: Ends) -> list[Check]:
    """Without segmentation offload and MTU discovery no datagram is larger than it should be, and most are as large.

    The capture and the client's own log are two witnesses of each datagram.
    """
    largest_name = "largest UDP datagram (no segmentation offload, no MTU discovery)"
    largest = check(largest_name, over.full_bytes, over.largest_bytes, "bytes", over.spare_bytes)
    return [
        {**largest, "ok": largest["ok"] and over.largest_bytes <= over.full_bytes},
        check("datagrams that capture and client recorded differently", 0, over.differing_pkts, "packets", 0),
    ]


def counted(download: Download, tables: dict[str, pl.DataFrame]) -> Download:
    """Return a download as the ends count it.

    The client counts new bytes only. A packet that the sender declares lost is sent again: its data, in new packets.
    """
    until = pl.col("t_s") <= download["end_s"]
    received_bytes = int(tables["packets"].filter(until)["len_bytes"].sum())
    seconds = download["seconds"]
    return {
        **download,
        "bytes": received_bytes,
        "throughput_mbps": received_bytes * 8 / 1e6 / seconds if seconds > 0 else 0.0,
        "retransmits_pkts": tables["retransmits"].filter(until).height,
    }


def compress(source: Path, target: Path) -> None:
    """Keep a file that a stack wrote, compressed."""
    with pa.output_stream(str(target), compression="zstd") as sink:
        sink.write(source.read_bytes())


def of_link(folder: Path, node: NodeRecord, over: Datagrams) -> tuple[int, dict[str, pl.DataFrame]]:
    """Return t_s = 0 on the clock of the ends, and the tables of the link."""
    start_ns = on_trace_clock(node, over.start_epoch_ns, folder / CAPTURED)
    events = read_events(folder / "trace.raw", folder / "formats")
    return start_ns, link_tables(folder, node, events, start_ns)


class OverQuic:
    """A trial over QUIC: the same tables, from the capture and from both ends' logs."""

    def __init__(self, raw: RawTrial) -> None:
        self.raw, self.ends = raw, Ends(raw.folder, raw.plan["flows"][0])

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        return decode(self.raw.folder, self.raw.node, self.ends)

    def checks(self, _tables: Mapping[str, Frame]) -> list[Check]:
        """Return the checks of its datagrams."""
        return datagrams(self.ends)

    def counted(self, download: Download) -> Download:
        """Return a download as the ends count it."""
        return counted(download, self.tables)

    def keep(self) -> list[str]:
        """Keep both ends' qlogs."""
        for end in ENDS:
            source = self.raw.folder / f"{end}.qlog"
            if source.exists():
                compress(source, source.with_suffix(".qlog.zst"))
        return list(QLOGS)


def decode(folder: Path, node: NodeRecord, ends: Ends) -> dict[str, pl.DataFrame]:
    """Decode the raw records of a trial over QUIC."""
    start_ns, link = of_link(folder, node, ends)
    return {**ends.tables(start_ns), **link}
