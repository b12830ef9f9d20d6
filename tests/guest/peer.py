# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: a receiver without a kernel, which acknowledges what a test wants, and may take it back."""

import itertools
import socket
import struct
from typing import Any

from lab.node.net.namespace import entered
from lab.node.system.tools import run, run_json
from tests.guest.flow import BYTES, CHUNK, PORT

ADDRESS = "10.0.3.9"  # beside the client's own address, so that its kernel answers nothing
PORTS = itertools.count(40000)  # a connection each
MTU = 1600
FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
MSS_BYTES, WINDOW = 1000, 60000
SYN_OPTIONS = struct.pack("!BBHBBBB", 2, 4, MSS_BYTES, 4, 2, 1, 1)  # MSS, SACK permitted, padding


def checksum(data: bytes) -> int:
    """RFC 1071."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Peer:
    """One connection: every segment that came by its first byte's offset, and how much of all is in one piece."""

    def __init__(self, link: dict[str, Any]) -> None:
        node = link["ends"][1]
        (own,) = run_json("ip", "-n", node, "-j", "link", "show", "eth1")
        (router,) = run_json("ip", "-n", "satellite", "-j", "link", "show", "eth2")
        run("ip", "-n", "satellite", "neighbour", "replace", ADDRESS, "lladdr", own["address"], "dev", "eth2")
        self.macs = bytes.fromhex((router["address"] + own["address"]).replace(":", ""))
        self.server = link["addresses"][link["ends"][0]]
        with entered(node):
            self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            self.wire.bind(("eth1", 0x0800))
        self.segments: dict[int, bytes] = {}
        self.first_seq = 0
        self.port = next(PORTS)

    def connect(self) -> None:
        """Shake hands, with SACK and without timestamps."""
        self._send(SYN, 0, 0, SYN_OPTIONS)
        seq, _, _ = self._next(SYN | ACK)
        self.first_seq = seq + 1
        self.acknowledge(0)

    def acknowledge(self, offset: int, sacks: tuple[tuple[int, int], ...] = ()) -> None:
        """Acknowledge all bytes before an offset, and ranges of offsets above it."""
        edges = [self.first_seq + edge & 0xFFFFFFFF for sack in sacks for edge in sack]
        options = struct.pack(f"!BBBB{len(edges)}I", 1, 1, 5, 2 + 4 * len(edges), *edges) if edges else b""
        self._send(ACK, 1, self.first_seq + offset, options)

    def take(self) -> int:
        """Wait for a data segment and keep it; returns its offset."""
        while True:
            seq, _, data = self._next(ACK)
            if data:
                offset = seq - self.first_seq & 0xFFFFFFFF
                self.segments[offset] = data
                return offset

    def in_order_bytes(self) -> int:
        """How many bytes from the first on are there, and as they were sent."""
        offset = 0
        while data := self.segments.get(offset):
            if data != BYTES[offset : offset + len(data)]:
                raise ValueError(f"offset={offset}: must be the bytes that were sent")
            offset += len(data)
        return offset

    def leave(self) -> None:
        """Reset the connection, so that nothing is sent to it any more."""
        self._send(RST, 1, 0, b"")
        self.wire.close()

    def _next(self, flags: int) -> tuple[int, int, bytes]:
        """Wait for a segment of this connection; returns its sequence number, flags and data."""
        while True:
            frame = self.wire.recv(MTU)
            total, tcp = struct.unpack("!H", frame[16:18])[0], frame[34:]
            if frame[23] != socket.IPPROTO_TCP or frame[30:34] != socket.inet_aton(ADDRESS):
                continue
            if struct.unpack("!H", tcp[2:4])[0] != self.port:
                continue
            seq, got = struct.unpack("!I", tcp[4:8])[0], tcp[13]
            if got & RST:
                raise ConnectionResetError
            if got & flags == flags:
                return seq, got, tcp[(tcp[12] >> 4) * 4 : total - 20]

    def _send(self, flags: int, offset: int, ack: int, options: bytes) -> None:
        words = (self.port, PORT, offset, ack & 0xFFFFFFFF, (20 + len(options)) // 4 << 4, flags, WINDOW, 0, 0)
        tcp = struct.pack("!HHIIBBHHH", *words) + options
        ends = socket.inet_aton(ADDRESS) + socket.inet_aton(self.server)
        tcp_sum = checksum(ends + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp)) + tcp)
        tcp = tcp[:16] + struct.pack("!H", tcp_sum) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, socket.IPPROTO_TCP, 0) + ends
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
        self.wire.send(self.macs + b"\x08\x00" + ip + tcp)


def reneged_on(sender: socket.socket, peer: Peer, size_bytes: int) -> int:
    """Acknowledge segments 2 to 5, take that back, and then be honest; returns how many bytes came in order."""
    sender.send(BYTES[: min(size_bytes, CHUNK)])
    firsts = [peer.take() for _ in range(6)]
    for end in firsts[2:6]:
        peer.acknowledge(0, ((firsts[1], end),))
    while peer.take() != 0:  # it comes again, since three others were acknowledged
        pass
    kept = peer.segments[0]
    peer.segments = {0: kept}
    while (got := peer.in_order_bytes()) < size_bytes:
        peer.acknowledge(got)
        peer.take()
    peer.acknowledge(got)
    return got
