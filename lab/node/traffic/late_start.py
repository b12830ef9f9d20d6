# SPDX-License-Identifier: GPL-2.0-or-later
"""A server whose process begins late, as one that waits for its turn on a processor does.

Its process is stopped while the data connection opens, and goes on after the plan's delay. The kernel answers
meanwhile: it completes the handshake, acknowledges, and holds what arrives. TCP: the process is stopped at the SYN of
the second connection, the first being the control connection, and the delay counts from what the client sends next.
UDP: it is stopped at once, and the delay counts from the first datagram.
"""

import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab.node.net.namespace import entered
from lab.node.net.netns import interfaces
from lab.node.system.punctual import SECOND_NS, sleep_until
from lab.node.system.task import Task
from lab.node.system.tools import NodeError
from lab.node.traffic.arrival import ETH_P_IP, HEADER_BYTES, TCP

if TYPE_CHECKING:
    from lab.node.plan import Plan

START_S = 30  # by then the connection is open: see lab/node/traffic/download.py
SYN = 0x02


@contextmanager
def held(plan: "Plan", pid: int) -> "Iterator[LateServer | None]":
    """Let the server of the first download begin as late as the plan states; None where that is at once."""
    if "server_start_s" not in plan:
        yield None
        return
    flow = plan["flows"][0]
    where = flow["sender"], interfaces(plan["topology"], flow["sender"])[0], flow["port"]
    late = LateServer(*where, pid, plan["server_start_s"], udp="quic" in flow or "stack" in flow)
    try:
        yield late
    finally:
        late.close()


class LateServer:
    """One such server, by its port and the number of its process; its connection is watched for from now on."""

    def __init__(self, node: str, dev: str, port: int, pid: int, delay_s: float, *, udp: bool) -> None:
        self.pid, self.delay_s, self.open = pid, delay_s, True
        with entered(node):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        self.socket.bind((dev, ETH_P_IP))
        self.socket.settimeout(START_S)
        if udp:
            os.kill(self.pid, signal.SIGSTOP)
        self.task = Task(self._datagram if udp else self._connection, port)

    def waited_s(self) -> float:
        """Return how late the server began; NodeError where no connection came."""
        waited: float = self.task.result()
        return waited

    def _datagram(self, port: int) -> float:
        while arrived(self.socket.recv(HEADER_BYTES), port) is None:
            continue
        return self._go_on()

    def _connection(self, port: int) -> float:
        """Stop the server at the second connection's SYN until its delay after that connection's next segment."""
        clients: list[int] = []
        while True:
            found = arrived(self.socket.recv(HEADER_BYTES), port)
            if not found:
                continue
            client_port, syn = found
            if syn and client_port not in clients:
                clients.append(client_port)
                if len(clients) == 2:
                    os.kill(self.pid, signal.SIGSTOP)
            elif not syn and client_port in clients[1:]:
                return self._go_on()

    def _go_on(self) -> float:
        begin_ns = time.monotonic_ns()
        sleep_until(begin_ns + round(self.delay_s * SECOND_NS))
        waited_ns = time.monotonic_ns() - begin_ns  # before the signal: the server may run at once, and long
        if not self.open:
            raise NodeError("server: ended before it began")
        os.kill(self.pid, signal.SIGCONT)
        return waited_ns / SECOND_NS

    def close(self) -> None:
        """Stop watching, and let the server go on in any case, so that it can be ended."""
        self.open = False
        self.socket.close()
        os.kill(self.pid, signal.SIGCONT)


def arrived(packet: bytes, port: int) -> tuple[int, bool] | None:
    """Return the client's port and whether it is a SYN, of an IPv4 packet to a server's port; None of other packets."""
    begin = (packet[0] & 0xF) * 4 if packet else 0
    if begin < 20 or len(packet) < begin + 14:
        return None
    source, target = struct.unpack_from("!HH", packet, begin)
    return (source, packet[9] == TCP and bool(packet[begin + 13] & SYN)) if target == port else None
