# SPDX-License-Identifier: GPL-2.0-or-later
"""When a download's first data segment arrives at its client: read from a packet socket, and not polled.

iperf3's control connection is the first that the server accepts; data come over any other one.
"""

import ctypes
import socket
import struct
import time

from lab.node.net.namespace import entered

ETH_P_IP = 0x0800
HEADER_BYTES = 128  # IP and TCP with all their options
TCP = 6
SO_ATTACH_FILTER = 26  # asm-generic/socket.h
SOCK_FILTER = struct.Struct("=HBBI")  # struct sock_filter, linux/filter.h


class Arrival:
    """Watches the packets that reach an interface, from its construction on, until the first data segment."""

    def __init__(self, node: str, dev: str, port: int) -> None:
        self.port = port
        self.control: int | None = None
        with entered(node):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        _filter(self.socket, port)
        self.socket.bind((dev, ETH_P_IP))  # of this protocol alone a socket is handed what arrives, not what is sent

    def within(self, seconds: float) -> int | None:
        """Wait for the first data segment; returns its time (monotonic, ns), or None after some seconds without it."""
        end_ns = time.monotonic_ns() + round(seconds * 1e9)
        while (left_ns := end_ns - time.monotonic_ns()) > 0:
            self.socket.settimeout(left_ns / 1e9)
            try:
                packet = self.socket.recv(HEADER_BYTES)
            except TimeoutError:
                break
            if self.is_data(packet):
                return time.monotonic_ns()
        return None

    def is_data(self, packet: bytes) -> bool:
        """Take an IPv4 packet in; return whether it is a data segment from the server."""
        found = tcp(packet)
        if not found or found[0] != self.port:
            return False
        _, client_port, payload_bytes = found
        if self.control is None:
            self.control = client_port
        return client_port != self.control and payload_bytes > 0

    def close(self) -> None:
        """Stop watching."""
        self.socket.close()


def _filter(taker: socket.socket, port: int) -> None:
    """Have the kernel hand over packets of a server's port only: of many downloads each would wake every watcher."""
    steps = (
        (0xB1, 0, 0, 0),  # x = length of the IPv4 header
        (0x48, 0, 0, 0),  # a = source port
        (0x15, 0, 1, port),
        (0x06, 0, 0, 0xFFFF),  # whole packets of that port
        (0x06, 0, 0, 0),  # nothing of others
    )
    program = ctypes.create_string_buffer(b"".join(SOCK_FILTER.pack(*step) for step in steps))
    taker.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(steps), ctypes.addressof(program)))


def tcp(packet: bytes) -> tuple[int, int, int] | None:
    """Return source port, destination port and payload bytes of an IPv4 packet's TCP segment; None of other packets."""
    begin = (packet[0] & 0xF) * 4 if packet else 0
    if len(packet) < begin + 20 or begin < 20 or packet[9] != TCP:
        return None
    (total_bytes,) = struct.unpack_from("!H", packet, 2)
    source, target = struct.unpack_from("!HH", packet, begin)
    return source, target, total_bytes - begin - (packet[begin + 12] >> 4) * 4
