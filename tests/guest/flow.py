# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: TCP flows between nodes, of known bytes that are checked on arrival, all in one process."""

import hashlib
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.node.measure.counters import protocol_counters
from lab.node.net import netns, sysctl
from lab.node.net.namespace import entered
from lab.node.qdiscs import qdisc
from lab.node.system.tools import NodeError, run

PORT = 5201
PERIOD = 65521  # prime: no segment size divides it, so that a byte out of place is another byte
BYTES = hashlib.shake_128(b"lab").digest(PERIOD) * 5
CHUNK = 4 * PERIOD
TCP_CONGESTION, TCP_INFO = 13, 11
INFO = (  # struct tcp_info, its u32 fields from offset 8 on
    "rto_us ato_us snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv "
    "last_ack_recv pmtu rcv_ssthresh rtt_us rttvar_us ssthresh_pkts cwnd_pkts advmss reordering rcv_rtt rcv_space "
    "total_retrans"
).split()
Options = dict[int, int]  # of level IPPROTO_TCP


@contextmanager
def link_up(link: dict[str, Any], sysctls: dict[str, str] | None = None) -> Iterator[None]:
    """Bring up the nodes, settings and link of a trial's plan, and load every sender; `sysctls` are set in addition."""
    for module in link["modules"]:
        run("modprobe", module)
    sysctl.pin(None, link["sysctls"]["kernel"])
    with netns.nodes_up(link["topology"]):
        for node in link["ends"]:
            sysctl.pin(node, link["sysctls"]["ends"] | (sysctls or {}))
        for shape in link["shapes"]:
            qdisc.apply(shape["node"], shape["dev"], shape["spec"])
        yield


def listening(node: str, algorithm: str, options: Options | None = None, port: int = PORT) -> socket.socket:
    with entered(node):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        set_algorithm(sock, algorithm)
        for option, value in (options or {}).items():
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
        sock.bind(("", port))
        sock.listen(4096)
    return sock


def receiving(node: str, rcvbuf_bytes: int | None = None, options: Options | None = None) -> socket.socket:
    """Make the socket that will receive, not connected yet."""
    with entered(node):
        sock = socket.socket()
    if rcvbuf_bytes:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf_bytes)
    for option, value in (options or {}).items():
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    return sock


def set_algorithm(sock: socket.socket, algorithm: str) -> None:
    """Choose a congestion control, and refuse another one."""
    sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, algorithm.encode())
    got = sock.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0").decode()
    if got != algorithm:
        raise NodeError(f"congestion control={got}: must be {algorithm}, as requested")


class Flow:
    """One download: what is left to send, and what has arrived as it was sent."""

    def __init__(self, sender: socket.socket, receiver: socket.socket, size_bytes: int) -> None:
        self.sender, self.receiver, self.size_bytes = sender, receiver, size_bytes
        self.sent_bytes = self.got_bytes = 0
        self.reading = True
        self.most_cwnd_pkts = 0
        for sock in (sender, receiver):
            sock.setblocking(False)

    @property
    def done(self) -> bool:
        return self.got_bytes == self.size_bytes

    def send(self) -> None:
        begin = self.sent_bytes % PERIOD
        self.sent_bytes += self.sender.send(BYTES[begin : begin + min(CHUNK, self.size_bytes - self.sent_bytes)])

    def receive(self) -> None:
        data = self.receiver.recv(CHUNK)
        begin = self.got_bytes % PERIOD
        if data != BYTES[begin : begin + len(data)] or not data:
            raise NodeError(f"flow: {len(data)} bytes from {self.got_bytes} on are not those that were sent")
        self.got_bytes += len(data)
        self.note_window()

    def note_window(self) -> None:
        """Keep the largest congestion window that was seen."""
        self.most_cwnd_pkts = max(self.most_cwnd_pkts, self.info()["cwnd_pkts"])

    def info(self) -> dict[str, int]:
        """Return what the sender's kernel reports of it."""
        raw = self.sender.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 8 + 4 * len(INFO))
        return dict(zip(INFO, struct.unpack(f"{len(INFO)}I", raw[8:]), strict=True))

    def close(self) -> None:
        self.sender.close()
        self.receiver.close()


def connect(link: dict[str, Any], server: socket.socket, receiver: socket.socket, size_bytes: int) -> Flow:
    receiver.connect((link["addresses"][link["ends"][0]], PORT))
    return Flow(server.accept()[0], receiver, size_bytes)


Work = dict[int, tuple[Flow, Callable[[], None]]]  # by file descriptor


def pump(flows: list[Flow], seconds: float, every: Callable[[], None] = lambda: None) -> None:
    """Move bytes until all flows are done or the time is over; `every` is called after each round."""
    end_s = time.monotonic() + seconds
    with select.epoll() as poll:
        work = _registered(poll, flows)
        while not all(flow.done for flow in flows) and (left_s := end_s - time.monotonic()) > 0:
            for number, _event in poll.poll(left_s, 256):
                flow, move = work[number]
                move()
                _forget(poll, work, flow)
            every()


def finish(flows: list[Flow], seconds: float) -> None:
    """Move bytes until all flows are done, and close them; refuse those that need longer."""
    pump(flows, seconds)
    stuck = [flow for flow in flows if not flow.done]
    if stuck:
        raise NodeError(f"{len(stuck)} flows of {len(flows)} not done after {seconds} s: {stuck[0].info()}")
    for flow in flows:
        flow.close()


def _registered(poll: "select.epoll", flows: list[Flow]) -> Work:
    work: Work = {}
    for flow in flows:
        if flow.sent_bytes < flow.size_bytes:
            poll.register(flow.sender, select.EPOLLOUT)
            work[flow.sender.fileno()] = (flow, flow.send)
        if flow.reading and not flow.done:
            poll.register(flow.receiver, select.EPOLLIN)
            work[flow.receiver.fileno()] = (flow, flow.receive)
    return work


def _forget(poll: "select.epoll", work: Work, flow: Flow) -> None:
    """Stop watching an end that has nothing more to do."""
    ends = ((flow.sender, flow.sent_bytes), (flow.receiver, flow.got_bytes))
    for sock, moved_bytes in ends:
        if moved_bytes == flow.size_bytes and sock.fileno() in work:
            del work[sock.fileno()]
            poll.unregister(sock)


def counters(node: str) -> dict[str, int]:
    """Read a node's TCP and IP counters, by the names of nstat."""
    with entered(node):
        return protocol_counters("".join(Path(f"/proc/thread-self/net/{of}").read_text() for of in ("netstat", "snmp")))
