# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of downloads over links that are known: a sender of windows, a bottleneck with a buffer, and both ends."""

import heapq
import math
import random
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MSS, HEADERS, START_NS = 1448, 66, 1_700_000_000 * 10**9
CLIENT, SERVER = 40_000, 5_201
SYN, ACK = 2, 16
HANDSHAKE_OPTIONS = struct.pack(">BBHBBBB", 2, 4, MSS + 12, 3, 3, 7, 1)
Blocks = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Known:
    """The truth: a link, and how the two ends behave."""

    rate_mbps: float = 20.0
    faster_from_s: float = 1e9  # from then on twice the rate
    one_way_ms: float = 25.0
    buffer_bytes: int = 150_000
    drop_above: float | None = None  # instead of the end: a share of the buffer, above which a quarter is lost
    random_loss: float = 0.0
    first_loss_free: int = 0  # packets that random loss spares
    late_share: float = 0.0  # of packets, which others overtake
    late_ms: float = 20.0
    sway_ms: float = 0.0  # by which the way down is longer at most, every 0.7 s
    longer_ms: float = 0.0  # by which the way down is longer from 1.2 s on
    stamp_ms: int = 1  # of both ends
    stamp_base: int = 1000
    isn: int = 1_000_000
    most_window: int = 10_000  # packets
    size_bytes: int = 6_000_000
    calls: bool = False  # 40 kB every half second instead of a bulk
    call_pkts: int = 28
    call_s: float = 0.5
    call_count: int = 19  # behind the first
    held_every_s: float = 0.0  # by the receiver's host, which sees only at the end of held_s what came in it
    held_s: float = 0.0
    receive_window: int = 8_000_000
    window_scale: bool = True  # of the server too: without it none holds
    ack_every: int = 2  # packets, behind the first 40
    acks_lost: float = 0.0  # share of ACKs that the sender never sees
    seed: int = 1

    @property
    def window_shift(self) -> int:
        """Return the receive window's scale."""
        return 7 if self.window_scale else 0


@dataclass(frozen=True)
class Frame:
    t_s: float
    to_client: bool
    seq: int
    ack: int
    length: int
    flags: int
    tsval: int
    tsecr: int
    window: int
    sack: Blocks = ()
    more: bytes = b""  # options


@dataclass
class Download:
    """A simulation; frames as each end sees them."""

    known: Known
    client: list[Frame] = field(default_factory=list)
    server: list[Frame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.known.seed)  # noqa: S311 - no secret
        self.events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self.queue: deque[tuple[float, int]] = deque()  # departure and bytes of what waits
        self.free_s, self.number, self.packets = 0.0, 0, 0
        self.window, self.slow_start, self.recover = 10.0, True, 0
        self.next, self.acked, self.arrived = 0, 0, set[int]()
        self.held: set[int] = set()  # that the sender knows to have arrived
        self.again: set[int] = set()
        self.expected, self.recent_client, self.recent_server = 0, 0, 0
        self.unacked, self.begun = 0, 0
        self.total = self.known.size_bytes // MSS
        self.limit = self.known.call_pkts if self.known.calls else self.total
        self._handshake()
        while self.events:
            t_s, _, action, arguments = heapq.heappop(self.events)
            action(t_s, *arguments)

    def _at(self, t_s: float, action: Callable[..., None], *arguments: Any) -> None:
        self.number += 1
        heapq.heappush(self.events, (t_s, self.number, action, arguments))

    def _stamp(self, t_s: float) -> int:
        step = self.known.stamp_ms
        return (self.known.stamp_base + int(t_s * 1e3 + 1e-6) // step * step) % 2**32

    def _seen(self, side: str, t_s: float, **fields: Any) -> None:
        window = self.known.receive_window >> self.known.window_shift
        defaults: dict[str, Any] = {"length": 0, "flags": ACK, "window": window, "sack": ()}
        frame = Frame(t_s, **(defaults | fields))
        (self.client if side == "client" else self.server).append(frame)

    def _handshake(self) -> None:
        way_s = self.known.one_way_ms / 1e3
        begin = {"seq": -1, "ack": 0}
        open_ = {**begin, "to_client": False, "flags": SYN, "tsval": self._stamp(0), "tsecr": 0}
        reply = {**begin, "to_client": True, "flags": SYN | ACK, "tsval": self._stamp(way_s), "tsecr": self._stamp(0)}
        third = {"to_client": False, "seq": 0, "ack": 0, "tsval": self._stamp(2 * way_s), "tsecr": self._stamp(way_s)}
        for frame, client_s, server_s in (
            (open_, 0.0, way_s),
            (reply, 2 * way_s, way_s),
            (third, 2 * way_s, 3 * way_s),
        ):
            self._seen("client", client_s, **frame)
            self._seen("server", server_s, **frame)
        self.recent_client, self.recent_server = self._stamp(way_s), self._stamp(2 * way_s)
        self._at(3 * way_s, self._send)
        if self.known.calls:
            for call in range(1, self.known.call_count + 1):
                self._at(3 * way_s + self.known.call_s * call, self._call)

    def _call(self, t_s: float) -> None:
        self.limit += self.known.call_pkts
        self._send(t_s)

    def _send(self, t_s: float) -> None:
        flight = self.next - len(self.held)
        room = min(self.window, self.known.most_window, self.known.receive_window // MSS)
        while flight < room and self.next < min(self.limit, self.total):
            self._packet(t_s, self.next)
            self.next, flight = self.next + 1, flight + 1

    def _packet(self, t_s: float, number: int) -> None:
        stamp = self._stamp(t_s)
        frame = {
            "to_client": True,
            "seq": number * MSS,
            "ack": 0,
            "length": MSS,
            "tsval": stamp,
            "tsecr": self.recent_server,
        }
        self._seen("server", t_s, **frame)
        known = self.known
        while self.queue and self.queue[0][0] <= t_s:
            self.queue.popleft()
        waiting = len(self.queue) * (MSS + HEADERS)
        self.packets += 1
        level = known.buffer_bytes * (known.drop_above or 1)
        full = waiting + MSS + HEADERS > level
        drops = full and (known.drop_above is None or self.random.random() < 0.25)
        if drops | (self.packets > known.first_loss_free and self.random.random() < known.random_loss):
            return
        rate = known.rate_mbps * (2 if t_s > known.faster_from_s else 1) * 1e6 / 8
        self.free_s = max(self.free_s, t_s) + (MSS + HEADERS) / rate
        self.queue.append((self.free_s, MSS + HEADERS))
        late_s = known.late_ms / 1e3 if known.late_share and self.random.random() < known.late_share else 0.0
        late_s += known.sway_ms / 2e3 * (1 + math.sin(2 * math.pi * self.free_s / 0.7))
        late_s += known.longer_ms / 1e3 if self.free_s > 1.2 else 0.0
        self._at(self._handled_s(self.free_s + known.one_way_ms / 1e3 + late_s), self._arrive, number, frame)

    def _handled_s(self, t_s: float) -> float:
        every_s = self.known.held_every_s
        return max(t_s, t_s // every_s * every_s + self.known.held_s) if every_s else t_s

    def _arrive(self, t_s: float, number: int, frame: dict[str, Any]) -> None:
        self._seen("client", t_s, **frame)
        in_order, is_second = number == self.expected, number in self.arrived
        self.arrived.add(number)
        while self.expected in self.arrived:
            self.expected += 1
        self.recent_client = frame["tsval"] if in_order else self.recent_client
        self.unacked += 1
        if self.unacked >= (2 if number < 40 else self.known.ack_every) or not in_order or self.expected >= self.limit:
            self._acknowledge(t_s, number, is_second)

    def _acknowledge(self, t_s: float, number: int, is_second: bool) -> None:
        self.unacked = 0
        sack: Blocks = ()
        if number >= self.expected:
            first = last = number
            while first - 1 in self.arrived and last - first < 200:
                first -= 1
            sack = ((first * MSS, (last + 1) * MSS),)
        if is_second:
            sack = ((number * MSS, (number + 1) * MSS), *sack)  # RFC 2883
        frame = {
            "to_client": False,
            "seq": 0,
            "ack": self.expected * MSS,
            "tsval": self._stamp(t_s),
            "tsecr": self.recent_client,
            "sack": sack,
        }
        self._seen("client", t_s, **frame)
        self._at(t_s + self.known.one_way_ms / 1e3, self._acked, frame)

    def _acked(self, t_s: float, frame: dict[str, Any]) -> None:
        if self.known.acks_lost and t_s > 0.2 and self.random.random() < self.known.acks_lost:
            return
        self._seen("server", t_s, **frame)
        self.recent_server = frame["tsval"]
        cumulative = frame["ack"] // MSS
        blocks = [range(self.acked, cumulative), *(range(a // MSS, b // MSS) for a, b in frame["sack"])]
        new = {each for block in blocks for each in block} - self.held
        self.held |= new
        self.acked = cumulative
        highest = max((block[-1] for block in blocks if block), default=0)
        missing = range(self.acked, highest - 3) if frame["sack"] else ()
        lost = [each for each in missing if each not in self.held and each not in self.again]
        if lost and self.acked >= self.recover:
            self.window, self.slow_start, self.recover = self.window * 0.7, False, self.next
        self.window += len(new) if self.slow_start else len(new) / self.window
        for each in lost:
            self.again.add(each)
            self._packet(t_s, each)
        self._send(t_s)


def written(file: Path, frames: list[Frame], known: Known, **form: Any) -> Path:
    file.write_bytes(content(frames, known, **form))
    return file


def content(frames: list[Frame], known: Known, *, version: int = 4, stamps: bool = True, snap: int = 128) -> bytes:
    """Return a pcap file."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1)]
    for frame in frames:
        data, wire = framed(frame, known, version, stamps)
        data = data[:snap]
        second, ns = divmod(START_NS + round(frame.t_s * 1e9), 10**9)
        out.append(struct.pack("<IIII", second, ns, len(data), wire) + data)
    return b"".join(out)


def framed(frame: Frame, known: Known, version: int = 4, stamps: bool = True) -> tuple[bytes, int]:
    """Return a frame's headers, and its length on the wire."""
    options = HANDSHAKE_OPTIONS if frame.flags & SYN else b""
    if frame.flags & ACK and not known.window_scale:
        options = options[:4] + b"\1" * len(options[4:])
    options += struct.pack(">BBBBII", 1, 1, 8, 10, frame.tsval, frame.tsecr) if stamps else b""
    own, other = (known.isn, 77) if frame.to_client else (77, known.isn)
    if frame.sack:
        edges = [(known.isn + 1 + each) % 2**32 for block in frame.sack for each in block]
        options += struct.pack(f">BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges)
    options += frame.more + b"\1" * (-len(options + frame.more) % 4)
    ports = (SERVER, CLIENT) if frame.to_client else (CLIENT, SERVER)
    seq = (own + (0 if frame.flags & SYN else 1) + max(frame.seq, 0)) % 2**32
    ack = 0 if frame.flags == SYN else (other + 1 + frame.ack) % 2**32
    flags = (20 + len(options)) // 4 << 12 | frame.flags
    tcp = struct.pack(">HHIIHHHH", *ports, seq, ack, flags, min(frame.window, 65535), 0, 0) + options
    ip = _ip(frame.to_client, len(tcp) + frame.length, version)
    return ip + tcp, len(ip) + len(tcp) + frame.length


def _ip(to_client: bool, length: int, version: int) -> bytes:
    ends = [bytes([10, *[0] * (2 if version == 4 else 14), host]) for host in (1, 2)]
    source, target = ends if to_client else ends[::-1]
    if version == 4:
        header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, 6, 0)
    else:
        header = struct.pack(">IHBB", 6 << 28, length, 6, 64)
    return bytes(12) + (b"\x08\x00" if version == 4 else b"\x86\xdd") + header + source + target


def ack_log(download: Download) -> str:
    """Return the log that the sender of a download would have written: a line per ACK."""
    first: dict[int, float] = {}  # when each packet was sent that was sent once
    arrived: set[int] = set()
    lines = ["now_us,bytes_acked,mss,rtt_us,tp_delivered,total_retrans_pkt,snd_nxt,snd_una"]
    highest = acked = again = 0
    for frame in download.server:
        if frame.length:
            number = frame.seq // MSS
            again += number in first
            first[number] = -1.0 if number in first else frame.t_s
            highest = max(highest, frame.seq + MSS)
        elif not frame.to_client and frame.flags == ACK:
            blocks = [range(acked // MSS, frame.ack // MSS), *(range(a // MSS, b // MSS) for a, b in frame.sack)]
            new = {each for block in blocks for each in block} - arrived
            arrived, acked = arrived | new, frame.ack
            at_s = first[max(new)] if new else -1.0
            rtt_us = round((frame.t_s - at_s) * 1e6) if at_s >= 0 else -1
            now_us = round(frame.t_s * 1e6)
            lines.append(f"{now_us},{acked},{MSS},{rtt_us},{len(arrived)},{again},{highest},{acked}")
    return "\n".join(lines) + "\n"
