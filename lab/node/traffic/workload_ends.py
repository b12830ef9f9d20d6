# SPDX-License-Identifier: GPL-2.0-or-later
"""The two ends of a workload: a client that requests objects when its plan says so, and a server that sends them.

The server writes a response as soon as its request is there, and nothing else: between two of them its socket has no
data, and the application is the limit. TCP_INFO is sampled, by which the kernel itself can be held to that.
"""

import json
import select
import socket
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.system.punctual import SECOND_NS
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import WorkloadPlan
    from lab.node.record import WorkloadServer

HEAD = struct.Struct("!QQ")  # bytes of the response, bytes of the request
READY = b"r"
BLOCK = bytes(131_072)  # as iperf3 writes
SAMPLE_MS = 10
CONNECT_S = 30
# struct tcp_info, include/uapi/linux/tcp.h: snd_mss; unacked, sacked, lost, retrans; snd_cwnd; notsent_bytes;
# busy_time, rwnd_limited, sndbuf_limited
TCP_INFO = struct.Struct("=16x I 4x 4I 40x I 60x I 20x 3Q")
UNACKED, NOTSENT_BYTES = 1, 6  # places among these


def serve(listener: socket.socket, algorithm: str, log: Path) -> None:
    """Serve one client until it closes or this process is stopped; then write the log."""
    control, _ = listener.accept()
    data, _ = listener.accept()
    with control, data:
        data.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
        data.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _require(data, algorithm)
        data.setblocking(False)
        control.sendall(READY)
        server = Server(data)
        with suppress(SystemExit, ConnectionError):  # the trial's time is over, or the client has gone
            server.run()
        log.write_text(json.dumps(server.record()))


def _require(data: socket.socket, algorithm: str) -> None:
    got = data.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    if got != algorithm:
        raise NodeError(f"workload: algorithm={got}: must be {algorithm}")


class Server:
    """Sends what was requested, as fast as the socket takes it."""

    def __init__(self, data: socket.socket) -> None:
        self.data = data
        self.pending_bytes = 0
        self.requested = bytearray()
        self.limited: list[tuple[int, int]] = []
        self.samples = 0
        self.info = _tcp_info(data)

    def run(self) -> None:
        """Work until the client closes."""
        poll = select.poll()
        while True:
            poll.register(self.data, select.POLLIN | (select.POLLOUT if self.pending_bytes else 0))
            self._sample()  # after what was written: a socket with data to send is not idle
            ready = poll.poll(None if self._is_idle() else SAMPLE_MS)
            if ready and ready[0][1] & ~select.POLLOUT and not self._read():
                self._sample()
                return
            self._write()

    def _is_idle(self) -> bool:
        """Return whether all is sent and acknowledged: then nothing changes before the next request."""
        return not self.pending_bytes and not self.info[UNACKED] and not self.info[NOTSENT_BYTES]

    def _read(self) -> bool:
        """Take requests in; returns whether the client may send more."""
        try:
            received = self.data.recv(len(BLOCK))
        except BlockingIOError:
            return True
        self.requested += received
        while len(self.requested) >= HEAD.size:
            response_bytes, request_bytes = HEAD.unpack_from(self.requested)
            if len(self.requested) < request_bytes:
                break
            del self.requested[:request_bytes]
            self.pending_bytes += response_bytes
        return bool(received)

    def _write(self) -> None:
        try:
            while self.pending_bytes:
                self.pending_bytes -= self.data.send(BLOCK[: self.pending_bytes])
        except BlockingIOError:
            pass

    def _sample(self) -> None:
        """Note whether the application is the limit, where that has changed.

        The conditions are those of tcp_rate_check_app_limited() (net/ipv4/tcp_rate.c), as far as TCP_INFO shows them.
        """
        self.info = mss, unacked, sacked, lost, retrans, cwnd, notsent_bytes, *_ = _tcp_info(self.data)
        in_flight = unacked - sacked - lost + retrans
        limited = int(notsent_bytes < mss and in_flight < cwnd and lost <= retrans)
        self.samples += 1
        if not self.limited or self.limited[-1][1] != limited:
            self.limited.append((time.monotonic_ns(), limited))

    def record(self) -> "WorkloadServer":
        """Return what the samples showed."""
        *_, busy_us, rwnd_limited_us, sndbuf_limited_us = self.info
        return {
            "limited_ns": self.limited,
            "samples": self.samples,
            "busy_us": busy_us,
            "rwnd_limited_us": rwnd_limited_us,
            "sndbuf_limited_us": sndbuf_limited_us,
        }


def _tcp_info(data: socket.socket) -> tuple[int, ...]:
    return TCP_INFO.unpack(data.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO.size))


def fetch(place: tuple[str, int], workload: "WorkloadPlan", log: Path) -> None:
    """Request every object as the plan says, until all are whole or this process is stopped; then write the log."""
    player = Player(workload["buffer_s"])
    whole_ns: list[tuple[int, int]] = []
    try:
        with socket.create_connection(place, CONNECT_S) as control, socket.create_connection(place, CONNECT_S) as data:
            data.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if control.recv(len(READY)) != READY:
                raise NodeError("workload: the server closed before it was ready")
            data.settimeout(None)  # the trial's own duration ends it
            for exchange in workload["exchanges"]:
                time.sleep(exchange["wait_s"])
                player.await_room(exchange["media_s"])
                sizes, begun_ns = exchange["objects_bytes"], time.monotonic_ns()
                request_bytes = workload["request_bytes"]
                data.sendall(b"".join(HEAD.pack(size, request_bytes).ljust(request_bytes, b"\0") for size in sizes))
                for size in sizes:
                    _receive(data, size)
                    whole_ns.append((begun_ns, time.monotonic_ns()))
                player.add(exchange["media_s"])
    except SystemExit:  # the trial's time is over
        pass
    log.write_text(json.dumps({"whole_ns": whole_ns, "stalled_s": player.stalled_ns / SECOND_NS}))


def _receive(data: socket.socket, size: int) -> None:
    """Take exactly so many bytes from the connection."""
    while size:
        received = len(data.recv(min(size, len(BLOCK))))
        if not received:
            raise NodeError(f"workload: the server closed {size} bytes before the end of an object")
        size -= received


class Player:
    """Plays what arrives, from the first object on; it stalls while it has nothing.

    It counts ns: a number of seconds since the boot is rounded more coarsely the longer that is ago.
    """

    def __init__(self, buffer_s: float) -> None:
        self.buffer_ns = round(buffer_s * SECOND_NS)
        self.empty_ns: int | None = None  # when all that arrived is played
        self.stalled_ns = 0

    def await_room(self, media_s: float) -> None:
        """Wait until so much more fits into the buffer."""
        if self.empty_ns is not None and self.buffer_ns:
            full_ns = self.empty_ns + round(media_s * SECOND_NS) - self.buffer_ns - time.monotonic_ns()
            time.sleep(max(full_ns, 0) / SECOND_NS)

    def add(self, media_s: float) -> None:
        """Take an object in, whole."""
        now_ns = time.monotonic_ns()
        if self.empty_ns is not None and media_s:
            self.stalled_ns += max(now_ns - self.empty_ns, 0)
        self.empty_ns = max(now_ns, self.empty_ns or 0) + round(media_s * SECOND_NS)
