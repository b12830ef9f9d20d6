# SPDX-License-Identifier: GPL-2.0-or-later
"""One-way delay of an idle path, packet by packet: small datagrams that carry their sending time.

Runs in both ends at once, which read the same kernel's clock.
"""

import socket
import struct
import time
from typing import TYPE_CHECKING

from lab.node.measure.counters import HERE, read_links
from lab.node.measure.stamped import SO_TIMESTAMPNS, stamped
from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Shape
    from lab.node.record import Probed

PORT = 9  # discard
RECORD = struct.Struct("!IQ")
PATIENCE_S = 10


def probe(peer: str, count: int, interval_ms: float) -> list[tuple[int, int]]:
    """Send numbered datagrams, one an interval; then collect the peer's: (number, delay in us), in order of arrival."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("", PORT))
        udp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("qq", PATIENCE_S, 0))
        time.sleep(0.2)  # until the peer listens too
        for number in range(count):
            udp.sendto(RECORD.pack(number, time.time_ns()), (peer, PORT))
            time.sleep(interval_ms / 1e3)
        arrived: list[tuple[int, int]] = []
        while len(arrived) < count:
            try:
                arrived.append(_receive(udp))
            except BlockingIOError:  # the rest is lost
                break
        return arrived


def _receive(udp: socket.socket) -> tuple[int, int]:
    """Read one datagram: its number, and its delay in us."""
    data, arrived_ns, _ = stamped(udp, 64)
    number, sent_ns = RECORD.unpack(data)
    return number, (arrived_ns - sent_ns) // 1000


def require_crossed(shapes: "list[Shape]", probes: "list[Probed]") -> None:
    """Refuse a shape whose interface sent fewer frames than probes of its way arrived.

    A download that goes round the bottleneck has no rate at all: in virtual time it never ends.
    """
    arrived: dict[str, int] = {probe["way"]: len(probe["arrived"]) for probe in probes}
    for shape in shapes:
        node, dev, part = shape["node"], shape["dev"], shape["part"]
        way = "up" if part.endswith("-up") else "down"
        with entered(node):
            sent = read_links(small_file.read(HERE / "dev"))[dev]["tx_pkts"]
        if sent < arrived[way]:
            place = f"{node}:{dev}, the {part}"
            raise NodeError(f"{place}: {sent} of {arrived[way]} probes: must be crossed by all, on the only path")
