# SPDX-License-Identifier: GPL-2.0-or-later
"""Series whose clock begins with the first download: with its SYN, or with its first data segment.

Both are seen at the server's interface. The series begin a moment later, as their qdiscs refuse a start that has
passed; until then the link has its mean rate and its first delays. A client's first segment to the server is its SYN.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab.node.net.namespace import entered
from lab.node.net.netns import interfaces
from lab.node.system.task import Task
from lab.node.system.tools import NodeError
from lab.node.traffic.arrival import HEADER_BYTES, tcp

if TYPE_CHECKING:
    from lab.node.plan import Plan
    from lab.node.qdiscs.replay import Start

ETH_P_ALL = 3  # also what the server sends
WAIT_S = 30  # by then the connection is open: see lab/node/traffic/download.py
AHEAD_NS, REAL_AHEAD_NS = 1_000_000, 20_000_000


@contextmanager
def awaited(plan: "Plan", start_ns: int) -> "Iterator[Start]":
    """Yield `start_ns`, or what waits until the plan's event has happened: when the link's series begin."""
    if "series_begin" not in plan:
        yield start_ns
        return
    flow = plan["flows"][0]
    with entered(flow["sender"]):
        watch = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
    with watch:
        watch.bind((interfaces(plan["topology"], flow["sender"])[0], ETH_P_ALL))
        watch.settimeout(WAIT_S)
        ahead_ns = REAL_AHEAD_NS if plan.get("clock") == "real" else AHEAD_NS
        task = Task(_begun_ns, watch, flow["port"], plan["series_begin"], ahead_ns)
        yield task.result


def _begun_ns(watch: socket.socket, port: int, event: str, ahead_ns: int) -> int:
    """Return the begin of the series, behind the event of the second connection: the first is iperf3's control."""
    clients: list[int] = []
    while True:
        try:
            packet = watch.recv(HEADER_BYTES)
        except OSError:
            raise NodeError(f"series: {event} of the download: must come within {WAIT_S} s") from None
        if not (found := tcp(packet)):
            continue
        source, target, payload_bytes = found
        if target == port and source not in clients:
            clients.append(source)
            happened = event == "syn" and len(clients) == 2
        else:
            happened = event == "data" and source == port and target in clients[1:] and payload_bytes > 0
        if happened:
            return time.monotonic_ns() + ahead_ns
