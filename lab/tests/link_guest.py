# SPDX-License-Identifier: GPL-2.0-or-later
"""Inside the virtual kernel: a link between two nodes, and UDP packets over it, stamped by the receiver's kernel.

Standard library and lab.node only: this runs in the guest. What it is told: lab/tests/link_bench.py.
"""

import json
import resource
import socket
import struct
import time
from array import array
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lab.node import netns, qdisc, replay
from lab.node.forked import Forked
from lab.node.tools import run

Plan = dict[str, Any]
ADDRESS, PORT = "10.0.2.2", 7000
SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_SNDBUFFORCE = 35, 33, 32
HEADERS_BYTES = 42  # Ethernet, IP, UDP
STAMP = struct.Struct("=QQ")  # number, when it was sent
LEAD_NS = 20_000_000  # from the last preparation to t = 0
NODE, DEV = "router", "eth2"


def _node(*commands: str) -> Plan:
    return {"exec": list(commands)}


TOPOLOGY: Plan = {
    "nodes": {
        "source": _node("ip address add 10.0.1.1/24 dev eth1", "ip route add default via 10.0.1.2"),
        "router": _node(
            "sysctl -q -w net.ipv4.ip_forward=1",
            "ip address add 10.0.1.2/24 dev eth1",
            "ip address add 10.0.2.1/24 dev eth2",
        ),
        "sink": _node(f"ip address add {ADDRESS}/24 dev eth1", "ip route add default via 10.0.2.1"),
    },
    "links": [
        {"endpoints": ["source:eth1", "router:eth1"], "mtu": 1500},
        {"endpoints": ["router:eth2", "sink:eth1"], "mtu": 1500},
    ],
}


def receive(file: str, until_ns: int) -> int:
    """Log every packet as (number, sent, received), all in monotonic nanoseconds."""
    offset_ns = time.time_ns() - time.monotonic_ns()
    log, count = array("Q"), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 27)
        sink.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sink.bind((ADDRESS, PORT))
        while (left_ns := until_ns - time.monotonic_ns()) > 0:
            sink.settimeout(left_ns / 1e9)
            try:
                data, ancillary, _, _ = sink.recvmsg(2048, 64)
            except TimeoutError:
                break
            seconds, nanoseconds = struct.unpack("=qq", ancillary[0][2])
            log.extend((*STAMP.unpack_from(data), seconds * 10**9 + nanoseconds - offset_ns))
            count += 1
    with Path(file).open("wb") as stream:
        log.tofile(stream)
    return count


def send(file: str, start_ns: int) -> None:
    """Send what a file says: pairs of (ns since the start, frame bytes)."""
    plan = array("Q")
    plan.frombytes(Path(file).read_bytes())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        source.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 27)
        source.connect((ADDRESS, PORT))
        for number in range(len(plan) // 2):
            due_ns = start_ns + plan[2 * number]
            if (wait_ns := due_ns - time.monotonic_ns()) > 0:
                time.sleep(wait_ns / 1e9)
            payload = STAMP.pack(number, time.monotonic_ns())
            source.send(payload + bytes(plan[2 * number + 1] - HEADERS_BYTES - len(payload)))


def cross(plan: Plan) -> dict[str, Any]:
    """Apply the link, send over it, and tell what was got."""
    folder = Path("/trial")
    with netns.nodes_up(TOPOLOGY):
        got = qdisc.apply(NODE, DEV, plan["spec"])
        start_ns = time.monotonic_ns() + LEAD_NS
        until_ns = start_ns + round(plan["duration_s"] * 1e9)
        sink = Forked("sink", receive, str(folder / "received.bin"), until_ns)
        source = Forked("source", send, str(folder / "sent.bin"), start_ns)
        late: list[float] = []
        with ExitStack() as stack:
            if plan["series"]:
                stack.enter_context(replay.playing(NODE, DEV, plan["spec"], folder / "series.tsv", start_ns))
            steps = plan["steps"]
            if plan["delays"]:
                steps = replay.delay_steps(folder / "delays.tsv", plan["spec"])
            if steps:
                late = stack.enter_context(replay.replaying(NODE, DEV, steps, start_ns))
            source.answer()
            received_pkts = sink.answer()
            counted = qdisc.statistics(NODE, DEV, plan["spec"])
        shown = json.loads(run("tc", "-n", NODE, "-s", "-j", "qdisc", "show", "dev", DEV))
    memory_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    record = {"memory_kb": memory_kb, "got": got, "start_ns": start_ns, "late_us": late, "shown": shown}
    return record | {"statistics": counted, "received_pkts": received_pkts}
