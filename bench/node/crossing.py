# SPDX-License-Identifier: GPL-2.0-or-later
"""One link between two nodes, and UDP packets over it, stamped by the receiver's kernel: what a link does, measured.

In a folder: sent.bin, pairs of <u64 ns since the start><u64 frame bytes>, in order of time; what it leaves there:
received.bin, <u64 number><u64 sent ns><u64 received ns> of each packet in order of arrival, monotonic.
bench/crossing.py builds the plan and calls this in the virtual kernel; `python -m bench.node.crossing FOLDER` (root)
runs it on this one.
"""

import json
import resource
import select
import socket
import struct
import sys
import time
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

from lab.node.measure.stamped import SO_RCVBUFFORCE, SO_RXQ_OVFL, SO_TIMESTAMPNS, stamped
from lab.node.net.forked import Forked
from lab.node.qdiscs import link, qdisc
from lab.node.qdiscs.stepping import Step, stepping
from lab.node.system.punctual import punctual_thread
from lab.node.system.tools import NodeError, run
from lab.node.trial import nodes_up

if TYPE_CHECKING:
    from lab.node.plan import Node, NodesPlan, Shape, Spec, Topology

ADDRESS, PORT = "10.0.2.2", 7000
HEADERS_BYTES = 14 + 20 + 8  # Ethernet, IP, UDP
BUFFER_BYTES = 64 << 20
LONGEST_PAUSE_S = 0.02  # between two readings of the buffer: waking up for each packet would cost more than the packet
STAMP = struct.Struct("=QQ")  # number, when it was sent
LEAD_NS = 500_000_000  # from the last preparation to t = 0: both ends are ready, on a busy machine too
NODE, DEV = "router", "eth2"
ENDS = ["source", "sink"]


class CrossingPlan(TypedDict):
    """crossing.json: the link to measure."""

    spec: "Spec"
    file: str | None  # of its series, in the folder
    steps: list[Step] | None  # changes by tc, in place of a series
    duration_s: float
    clock: NotRequired[Literal["real"]]


class Crossing(TypedDict):
    """answer.json: what the link did."""

    got: "Spec"
    start_ns: int
    late_us: list[float]  # of each step
    shown: list[Any]  # as `tc -s -j qdisc show` prints it
    statistics: dict[str, qdisc.Counts]
    received_pkts: int
    memory_kb: int
    kernel: str


def _node(*commands: str) -> "Node":
    return {"exec": list(commands)}


TOPOLOGY: "Topology" = {
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
    """Log every packet as (number, sent, received), all in monotonic nanoseconds; returns how many came."""
    offset_ns = time.time_ns() - time.monotonic_ns()
    log, overflowed = array("Q"), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        for option, value in ((SO_TIMESTAMPNS, 1), (SO_RXQ_OVFL, 1), (SO_RCVBUFFORCE, BUFFER_BYTES)):
            sink.setsockopt(socket.SOL_SOCKET, option, value)
        sink.bind(("", PORT))
        waiting = select.poll()
        waiting.register(sink, select.POLLIN)
        while (left_ns := until_ns - time.monotonic_ns()) > 0:
            if waiting.poll(left_ns / 1e6):  # nothing wakes it up as long as nothing comes
                time.sleep(min(LONGEST_PAUSE_S, max(until_ns - time.monotonic_ns(), 0) / 1e9))
            for stamp, arrived_ns, dropped in _received(sink):
                log.extend((*STAMP.unpack(stamp), arrived_ns - offset_ns))
                overflowed = max(overflowed, dropped)
    if overflowed:
        raise NodeError(f"receiver: {overflowed} packets found its socket full: must be 0 to measure a link")
    with Path(file).open("wb") as stream:
        log.tofile(stream)
    return len(log) // 3


def _received(sink: socket.socket) -> Iterator[tuple[bytes, int, int]]:
    """Yield of each packet that is there its stamp, when it arrived, and the socket's drops so far."""
    with suppress(BlockingIOError):
        while True:
            yield stamped(sink, STAMP.size, socket.MSG_DONTWAIT)


def send(file: str, start_ns: int) -> None:
    """Send what a file lists; between packets of one time no clock is read, which would take virtual time."""
    plan = array("Q")
    plan.frombytes(Path(file).read_bytes())
    packets = enumerate(zip(plan[::2], plan[1::2], strict=True))
    punctual_thread()  # a packet that wakes up together with tc meets a change at its very time
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
        source.connect((ADDRESS, PORT))
        for after_ns, together in groupby(packets, lambda packet: packet[1][0]):
            if (wait_ns := start_ns + after_ns - time.monotonic_ns()) > 0:
                time.sleep(wait_ns / 1e9)
            sent_ns = time.monotonic_ns()
            for number, (_, frame_bytes) in together:
                with suppress(ConnectionRefusedError):  # the receiver has ended
                    source.send(STAMP.pack(number, sent_ns).ljust(frame_bytes - HEADERS_BYTES, b"\0"))


def cross(plan: CrossingPlan, folder: str) -> Crossing:
    """Apply the link, send over it while it follows its steps, and return what it did."""
    shape: Shape = {"part": "link", "node": NODE, "dev": DEV, "spec": plan["spec"], "steps": plan["file"]}
    nodes: NodesPlan = {"topology": TOPOLOGY, "ends": ENDS}
    if "clock" in plan:
        nodes["clock"] = plan["clock"]
    with nodes_up(nodes, Path(folder)):
        (applied,) = link.shaped([shape])
        start_ns = time.monotonic_ns() + LEAD_NS
        until_ns = start_ns + round(plan["duration_s"] * 1e9)
        sink = Forked("sink", receive, f"{folder}/received.bin", until_ns)
        source = Forked("source", send, f"{folder}/sent.bin", start_ns)
        with ExitStack() as stack:
            stack.enter_context(link.following([shape], Path(folder), start_ns))
            late_us = stack.enter_context(stepping(NODE, DEV, plan["steps"], start_ns)) if plan["steps"] else []
            source.answer()
            received_pkts = sink.answer()
            counted = qdisc.statistics(NODE, DEV, plan["spec"])
        shown = json.loads(run("tc", "-n", NODE, "-s", "-j", "qdisc", "show", "dev", DEV))
    return {
        "got": applied["got"],
        "start_ns": start_ns,
        "late_us": late_us,
        "shown": shown,
        "statistics": counted,
        "received_pkts": received_pkts,
        "memory_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "kernel": Path("/proc/version").read_text().strip(),
    }


if __name__ == "__main__":
    here = Path(sys.argv[1])
    try:
        answer = cross(json.loads((here / "crossing.json").read_text()), str(here))
        (here / "answer.json").write_text(json.dumps(answer))
    except (NodeError, OSError) as error:
        sys.exit(str(error))
