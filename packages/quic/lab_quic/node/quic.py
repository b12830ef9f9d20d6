# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial whose download runs over QUIC: a stack's two ends stand where iperf3's do, all else is that of any trial.

Both ends write what they see into the trial's folder: a log for the tables, and the stack's own qlog. With a workload
the client gets its plan as lines of numbers, and both ends write what those of a workload over TCP write.
"""

import json
import struct
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node import trial
from lab.node.net.namespace import entered
from lab.node.net.netns import interfaces
from lab.node.system.tools import NodeError
from lab.node.traffic import download, flow
from lab.node.traffic.arrival import Arrival
from lab.node.workload import CLIENT, SERVER

if TYPE_CHECKING:
    from lab.node.plan import FlowPlan, Plan, WorkloadPlan
    from lab.node.record import DownloadRecord, Iperf3Outcome

UDP = 17
REQUESTS = "workload-plan.txt"
SECOND_NS = 10**9
NO_IPERF3 = "none: the download ran over QUIC"
MARGIN_BYTES = 100  # by which a datagram that holds the handshake's end is smaller than a full one


def run_trial(plan: "Plan", folder: Path) -> None:
    """Execute a plan whose download runs over QUIC."""
    trial.run_trial(plan, folder, partial(served, folder=folder), partial(begun, folder=folder))


@contextmanager
def served(request: "FlowPlan", folder: Path) -> Iterator[int]:
    """Serve one download while the block runs; yields the number of the server's process."""
    argv = [*_program(request, folder), "serve", *_options(request, folder, "server")]
    argv.append(f"controller={request['algorithm']}")
    argv += [f"{name}={value}" for name, value in request["quic"].get("params", {}).items()]
    if "workload" in request:
        argv.append(f"objects={folder / SERVER}")
    with entered(request["sender"]):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout
        first = process.stdout.readline()
        if first != "listening\n":
            raise NodeError(first.strip() or f"{Path(argv[0]).name}: server does not listen")
        yield process.pid
    finally:
        flow.stop_process(process)


@contextmanager
def begun(plan: "Plan", request: "FlowPlan", _far: object = None, *, folder: Path) -> Iterator["QuicDownload"]:
    """Begin the download; its client does not outlive the block."""
    node = request["receiver"]
    address = plan["addresses"][request["sender"]]
    argv = [*_program(request, folder), "get", address, *_options(request, folder, "client")]
    argv += [f"seconds={request['duration_s']}", f"bytes={request.get('size_bytes', 0)}"]
    if "workload" in request:
        (folder / REQUESTS).write_text(_lines(request["workload"]))
        argv += [f"workload={folder / REQUESTS}", f"objects={folder / CLIENT}"]
    with closing(
        FirstDatagram(node, interfaces(plan["topology"], node)[0], request["port"], _least_bytes(request))
    ) as arrival:
        client = flow.Client(argv, node)
        try:
            yield (Requested if "workload" in request else QuicDownload)(request, client, arrival)
        finally:
            client.stop()


def _program(request: "FlowPlan", folder: Path) -> list[str]:
    return [str(folder / request["quic"]["program"])]


def _options(request: "FlowPlan", folder: Path, end: str) -> list[str]:
    size = f"datagram_bytes={request['quic']['datagram_bytes']}"
    return [f"port={request['port']}", size, f"log={folder / end}.rows", f"qlog={folder / end}.qlog"]


def _least_bytes(request: "FlowPlan") -> int:
    """Return how large the first datagram of data is at least: full, unless the first object is smaller."""
    full_bytes = request["quic"]["datagram_bytes"] - MARGIN_BYTES
    size_bytes = request.get("size_bytes", full_bytes)
    if "workload" in request:
        size_bytes = request["workload"]["exchanges"][0]["objects_bytes"][0]
    return min(full_bytes, size_bytes)


def _lines(workload: "WorkloadPlan") -> str:
    """Format a plan for a stack's client: the request's size and the buffer, then pause, play and sizes by exchange."""
    exchanges = [
        [round(each["wait_s"] * SECOND_NS), round(each["media_s"] * SECOND_NS), *each["objects_bytes"]]
        for each in workload["exchanges"]
    ]
    rows = [[workload["request_bytes"], round(workload["buffer_s"] * SECOND_NS)], *exchanges]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


class FirstDatagram(Arrival):
    """Watches for the first datagram of data: one behind the handshake's long headers, and full unless all is small."""

    long_headers = True  # those of the handshake (RFC 9000, section 17)

    def __init__(self, node: str, dev: str, port: int, least_bytes: int) -> None:
        super().__init__(node, dev, port)
        self.least_bytes = least_bytes

    def is_data(self, packet: bytes) -> bool:
        """Return whether an IPv4 packet is a datagram of data from the server."""
        begin = (packet[0] & 0xF) * 4 if packet else 0
        if len(packet) <= begin + 8 or begin < 20 or packet[9] != UDP:
            return False
        source, _, length = struct.unpack_from("!HHH", packet, begin)
        long_header = self.long_headers and packet[begin + 8] & 0x80
        return source == self.port and not long_header and length - 8 >= self.least_bytes


class UdpDownload(download.Download):
    """A download under way over a stack that no kernel knows."""

    def sent_again_pkts(self) -> int:
        """Return 0: no kernel retransmits here. A stack's own log counts the packets that it declared lost."""
        return 0


class QuicDownload(UdpDownload):
    """A download over QUIC under way."""

    def __init__(self, request: "FlowPlan", client: flow.Client, arrival: Arrival) -> None:
        super().__init__(request, client, arrival)
        self.tool = Path(request["quic"]["program"]).name

    def refuse(self, printed: str) -> None:
        """Raise NodeError with the reason for which the client ended."""
        raise NodeError(printed.strip().splitlines()[-1] if printed.strip() else f"{self.tool}: no output")

    def outcome(self, printed: str, *, whole: bool, finished: bool) -> "Iperf3Outcome":
        """Return that there is no iperf3; NodeError where the client failed or ended before the download was whole."""
        if finished:
            try:
                received = json.loads(printed)
            except ValueError:
                self.refuse(printed)
            if not whole and not received["bytes"]:
                raise NodeError(f"{self.tool}: ended without any data")
        return {"iperf3": None, "iperf3_error": NO_IPERF3}


class Requested(QuicDownload):
    """A workload over QUIC under way. The client reports its first data: small ones look like the handshake's end."""

    first_ns = 0

    def measure(self) -> "DownloadRecord":
        """Wait for the end, and stop the client."""
        measured = super().measure()
        return {**measured, "data_ns": self.first_ns or measured["data_ns"]}

    def outcome(self, printed: str, *, whole: bool, finished: bool) -> "Iperf3Outcome":
        """Return that there is no iperf3; NodeError where the client failed."""
        found = super().outcome(printed, whole=whole, finished=finished)
        self.first_ns = json.loads(printed)["first_ns"] if finished else 0
        return found
