# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of a download as theory has it, for tests only: slow start over one FIFO bottleneck.

Every ACK releases one segment more than it acknowledges until the sender leaves slow start, then just one.
Frames that find the buffer full are dropped and sent again one RTT after the third duplicate ACK; what the
client says in between is a duplicate with one SACK block. Where the queue is CoDel's (RFC 8289) it marks, and the
client echoes the mark at once. All delay lies behind the bottleneck and is split evenly between the directions.
"""

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import polars as pl

from lab.tables.link_capacity import LinkCapacity

MSS_BYTES = 1448
FRAME_BYTES = 1514
ACK, ECE = 0x10, 0x40
SYN = 0x02
INITIAL_WINDOW_PKTS = 10
TARGET_S, INTERVAL_S = 0.005, 0.1  # of CoDel


@dataclass(frozen=True)
class Path:
    """One bottleneck; the sender leaves slow start at exit_cwnd_pkts or upon loss."""

    rate_mbps: float = 8.0
    base_rtt_ms: float = 200.0
    buffer_bytes: int = 400_000
    duration_s: float = 6.0
    exit_cwnd_pkts: int | None = None
    cause: str = "search"
    codel: bool = False  # the queue marks
    spell: tuple[float, float, float] | None = None  # the link is slow: begin, end (s), rate (Mb/s)

    @cached_property
    def link(self) -> LinkCapacity:
        constant = LinkCapacity.constant(self.rate_mbps, self.base_rtt_ms)
        if self.spell is None:
            return constant
        begin_s, end_s, slow_mbps = self.spell
        steps = {"quantity": "down.rate_mbps", "t_s": [begin_s, end_s], "value": [slow_mbps, self.rate_mbps]}
        return LinkCapacity(pl.concat([constant.table, pl.DataFrame(steps)]))

    def passed_s(self, from_s: float) -> float:
        """When a frame that the link begins to send has left."""
        if self.spell is None:
            return from_s + FRAME_BYTES * 8 / (self.rate_mbps * 1e6)
        return float(self.link.time_of_bytes(self.link.sent_bytes(np.array([from_s])) + FRAME_BYTES)[0])


@dataclass
class Download:
    """What was sent, delivered, dropped and acknowledged, as rows."""

    path: Path
    packets: list[dict[str, Any]] = field(default_factory=list)
    acks: list[dict[str, Any]] = field(default_factory=list)
    queue: list[tuple[float, float]] = field(default_factory=list)  # (enters, leaves) of each frame that was let in
    drops_s: list[float] = field(default_factory=list)
    marked_s: float | None = None  # when the first frame that is marked leaves the queue
    exits: list[dict[str, Any]] = field(default_factory=list)

    def tables(self) -> dict[str, pl.DataFrame]:
        return {
            "packets": pl.DataFrame(sorted(self.packets, key=lambda row: row["t_s"]), schema=PACKETS, orient="row"),
            "acks": pl.DataFrame(self.acks, schema=ACKS, orient="row"),
            "exits": pl.DataFrame(self.exits, schema=EXITS, orient="row"),
            "qdisc": self.qdisc(),
            "link": self.path.link.table,
            "bins": pl.DataFrame(schema=BINS),
            "retransmits": pl.DataFrame(schema=STATES),
            "ca_states": pl.DataFrame(schema=STATES),
        }

    def qdisc(self, every_s: float = 0.01) -> pl.DataFrame:
        """The queue as sampled from outside."""
        samples = pl.DataFrame({"t_s": [n * every_s for n in range(int(self.path.duration_s / every_s))]})
        enters, leaves = (pl.Series(times, dtype=pl.Float64).sort() for times in zip(*self.queue, strict=True))
        drops = pl.Series(self.drops_s, dtype=pl.Float64)
        t_s = samples["t_s"]
        let_in, sent = enters.search_sorted(t_s, "right"), leaves.search_sorted(t_s, "right")
        dropped = drops.search_sorted(t_s, "right")
        backlog = let_in.cast(pl.Int64) - sent.cast(pl.Int64)
        return samples.with_columns(
            backlog_bytes=backlog * FRAME_BYTES,
            backlog_pkts=backlog,
            sent_bytes=sent.cast(pl.Int64) * FRAME_BYTES,
            sent_pkts=sent.cast(pl.Int64),
            drops_pkts=dropped.cast(pl.Int64),
        )


@lru_cache(maxsize=8)
def download(path: Path) -> Download:
    """Run the model for path.duration_s; a test asks for the same path several times, and only reads."""
    return _Sender(path).run()


class _Sender:
    def __init__(self, path: Path) -> None:
        self.path, self.log = path, Download(path)
        self.half_s = path.base_rtt_ms / 2000
        self.cwnd, self.slow_start, self.next_pkt, self.acked = INITIAL_WINDOW_PKTS, True, 0, 0
        self.link_free_s, self.missing_since_s = 0.0, None  # type: float, float | None
        self.above_s: float | None = None  # since when each frame has waited for CoDel's target
        self.srtt_ms, self.snd_una = path.base_rtt_ms, 1
        self.in_flight: deque[tuple[float, float, bool]] = deque()  # (sent, arrives at the client, let in)

    def run(self) -> Download:
        self._handshake()
        for _ in range(INITIAL_WINDOW_PKTS):
            self._send(2 * self.half_s)
        while self.in_flight and self.in_flight[0][1] < self.path.duration_s:
            self._arrive(*self.in_flight.popleft())
        return self.log

    def _handshake(self) -> None:
        for t_s, to_client, flags in ((0.0, False, SYN), (2 * self.half_s, True, SYN | ACK)):
            self.log.packets.append(packet(t_s, to_client, flags=flags, tsval=_tick(t_s), tsecr=0))
        self.log.packets[-1].update(tsval=_tick(self.half_s), tsecr=_tick(0.0))

    def _send(self, now_s: float) -> None:
        starts_s = max(now_s, self.link_free_s)
        let_in = self.path.link.bytes_between(now_s, starts_s) < self.path.buffer_bytes
        if let_in:
            self.link_free_s = self.path.passed_s(starts_s)
            self.log.queue.append((now_s, self.link_free_s))
            self._mark(starts_s, starts_s - now_s)
        else:
            self.log.drops_s.append(now_s)
        self.in_flight.append((now_s, self.link_free_s + self.half_s, let_in))

    def _mark(self, leaves_s: float, waited_s: float) -> None:
        """CoDel's first signal (RFC 8289, section 5.4): every frame has waited for the target, for an interval."""
        if waited_s < TARGET_S:
            self.above_s = None
        elif self.above_s is None:
            self.above_s = leaves_s
        elif self.path.codel and self.log.marked_s is None and leaves_s >= self.above_s + INTERVAL_S:
            self.log.marked_s = leaves_s

    def _marked(self, t_s: float) -> bool:
        """Whether a frame that arrives at the client at a time is the first that is marked, or later."""
        return self.log.marked_s is not None and t_s >= self.log.marked_s + self.half_s

    def _arrive(self, sent_s: float, t_s: float, let_in: bool) -> None:
        if let_in:
            self._deliver(sent_s, t_s)
        elif self.missing_since_s is None:
            self.missing_since_s = t_s
        self._acked_at(t_s + self.half_s, sent_s)

    def _deliver(self, sent_s: float, t_s: float) -> None:
        number = self.next_pkt * MSS_BYTES
        self.next_pkt += 1
        whole = self.missing_since_s is None or t_s > self.missing_since_s + 4 * self.half_s
        self.acked = self.next_pkt * MSS_BYTES if whole else self.acked
        times = {"tsval": _tick(sent_s), "tsecr": _tick(t_s)}
        self.log.packets.append(packet(t_s, True, seq_bytes=number, len_bytes=MSS_BYTES) | times)
        self.log.packets.append(packet(t_s, False, ack_bytes=self.acked, sack_edges=0 if whole else 1))
        if self._marked(t_s):
            self.log.packets[-1]["flags"] |= ECE

    def _acked_at(self, t_s: float, sent_s: float) -> None:
        self._leave(t_s, (t_s - sent_s) * 1000)
        self._log_ack(t_s, (t_s - sent_s) * 1000)
        self.cwnd += self.slow_start
        while len(self.in_flight) < self.cwnd:
            self._send(t_s)

    def _leave(self, t_s: float, rtt_ms: float) -> None:
        lost = self.missing_since_s is not None
        marked = self._marked(t_s - self.half_s)
        if not self.slow_start or not (lost or marked or self.cwnd == self.path.exit_cwnd_pkts):
            return
        cause = "loss" if lost else "other" if marked else self.path.cause
        row = {"t_s": t_s, "flow": 1, "cwnd_pkts": self.cwnd, "ssthresh_pkts": self.cwnd}
        self.log.exits.append(row | {"rtt_ms": rtt_ms, "cause": cause})
        self.slow_start, self.cwnd = False, self.cwnd // 2 if lost else self.cwnd

    def _log_ack(self, t_s: float, rtt_ms: float) -> None:
        window = {"cwnd_pkts": self.cwnd, "ssthresh_pkts": None if self.slow_start else self.cwnd}
        numbers = {"snd_una_bytes": self.snd_una, "snd_nxt_bytes": self.snd_una + self.cwnd * MSS_BYTES}
        path = {"srtt_ms": self.srtt_ms, "snd_wnd_bytes": 1 << 24}
        self.log.acks.append({"t_s": t_s, "flow": 1} | path | window | numbers)
        self.srtt_ms, self.snd_una = self.srtt_ms + (rtt_ms - self.srtt_ms) / 8, self.acked + 1


def packet(t_s: float, to_client: bool, **fields: Any) -> dict[str, Any]:
    """A row of packets.parquet; a plain ACK unless the fields differ."""
    plain = {"flags": ACK, "seq_bytes": 0, "ack_bytes": 0, "len_bytes": 0, "window_bytes": 65535, "sack_edges": 0}
    known = plain | {"tsval": _tick(t_s), "tsecr": 0} | fields
    return {"t_s": t_s, "flow": 1, "to_client": to_client, "frame_bytes": 66 + known["len_bytes"]} | known


def _tick(t_s: float) -> int:
    return 1000 + int(t_s * 1000)


def _schema(columns: str) -> dict[str, Any]:
    """From "name:Type name:Type ..."."""
    return {name: getattr(pl, kind) for name, kind in (column.split(":") for column in columns.split())}


PACKETS = _schema(
    "t_s:Float64 flow:UInt8 to_client:Boolean frame_bytes:UInt32 seq_bytes:Int64 ack_bytes:Int64 "
    "len_bytes:UInt32 flags:UInt16 window_bytes:Int64 tsval:UInt32 tsecr:UInt32 sack_edges:UInt8"
)
ACKS = _schema(
    "t_s:Float64 flow:UInt8 cwnd_pkts:UInt32 ssthresh_pkts:UInt32 srtt_ms:Float64 snd_una_bytes:Int64 "
    "snd_nxt_bytes:Int64 snd_wnd_bytes:UInt32"
)
EXITS = _schema("t_s:Float64 flow:UInt8 cwnd_pkts:UInt32 ssthresh_pkts:UInt32 rtt_ms:Float64 cause:String")
BINS = _schema(
    "t_s:Float64 flow:UInt8 bin:Int32 cwnd_pkts:UInt32 ssthresh_pkts:UInt32 rtt_ms:Float64 bin_ms:Float64 "
    "curr_delv_bytes:Int64 prev_delv_bytes:Int64 norm_pct:Float64 exit:Boolean"
)
STATES = _schema("t_s:Float64 flow:UInt8 state:String")
