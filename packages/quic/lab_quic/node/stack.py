# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial whose download runs over a stack that a user brings: its two programs stand where iperf3's do.

Their commands are whole in the plan. What they print is read for the reason of a failure alone.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node import trial
from lab.node.net import interface
from lab.node.net.namespace import entered
from lab.node.net.netns import interfaces
from lab.node.system.tools import NodeError
from lab.node.traffic import flow
from lab_quic.node.quic import FirstDatagram, UdpDownload

if TYPE_CHECKING:
    from lab.node.plan import FlowPlan, Plan
    from lab.node.record import Iperf3Outcome
    from lab.node.traffic.arrival import Arrival

LISTENS_S, POLL_S = 10.0, 0.01
DATA_BYTES = 600  # a datagram of the server's that is no handshake, acknowledgement or message of its own
NO_IPERF3 = "none: the download ran over a stack of the user's"
SHOWN_CHARS, LAST_BYTES = 200, 4096  # of what an end has printed


def run_trial(plan: "Plan", folder: Path) -> None:
    """Execute a plan whose download runs over a stack of the user's; each end has an empty folder for its qlog."""
    for end in ("server", "client"):
        (folder / "qlog" / end).mkdir(parents=True)
    trial.run_trial(plan, folder, partial(served, plan), begun)


@contextmanager
def served(plan: "Plan", request: "FlowPlan") -> Iterator[int]:
    """Serve one download while the block runs; yields the number of the server's process."""
    for node in plan["ends"]:
        _split_datagrams(node, interfaces(plan["topology"], node))
    server = flow.Client(request["stack"]["server"], request["sender"], last_bytes=LAST_BYTES)
    try:
        _await_port(server, request)
        try:
            yield server.pid
        except NodeError:
            _require_alive(server, request)
            raise
        _require_alive(server, request)
    finally:
        server.stop()


def _split_datagrams(node: str, devs: list[str]) -> None:
    """Let no interface of a node pass on several datagrams as one, which would be one decision of the queue."""
    with entered(node):
        passing = [dev for dev in devs if not interface.switch_udp_offload_off(dev)]
    if passing:
        raise NodeError(f"{node}:{passing[0]}: tx-udp-segmentation=on: must be off")


def _await_port(server: flow.Client, request: "FlowPlan") -> None:
    """Wait until the server has opened its port."""
    wanted = f":{request['port']:04X} "
    end_ns = time.monotonic_ns() + round(LISTENS_S * 1e9)
    while time.monotonic_ns() < end_ns:
        if server.ended(POLL_S):
            raise _ended(server, request, "server", "before it opened its port")
        if wanted in Path(f"/proc/{server.pid}/net/udp").read_text():
            return
    raise NodeError(f"{request['stack']['name']}: server: does not open UDP port {request['port']} within 10 s")


def _require_alive(server: flow.Client, request: "FlowPlan") -> None:
    """Raise NodeError where the server has failed; to end with status 0 after its download is no failure."""
    if server.status:
        raise _ended(server, request, "server", "during the download")


def _ended(end: flow.Client, request: "FlowPlan", which: str, when: str) -> NodeError:
    """Return the error of an end that has ended: its status, and the last line that it printed."""
    printed = [line.strip() for line in end.stop().splitlines() if line.strip()]
    last = f": {printed[-1][-SHOWN_CHARS:]}" if printed else ""
    return NodeError(f"{request['stack']['name']}: {which}: {_status(end.status)} {when}{last}")


def _status(status: int | None) -> str:
    if not status or status > 0:
        return f"ended with status {status}"
    try:
        return f"ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"ended by signal {-status}"


@contextmanager
def begun(plan: "Plan", request: "FlowPlan", _far: object = None) -> Iterator["StackDownload"]:
    """Begin the download; its client does not outlive the block."""
    node = request["receiver"]
    with closing(FirstData(node, interfaces(plan["topology"], node)[0], request)) as arrival:
        client = flow.Client(request["stack"]["client"], node, last_bytes=LAST_BYTES)
        try:
            yield StackDownload(request, client, arrival)
        finally:
            client.stop()


class FirstData(FirstDatagram):
    """Watches for the first datagram of data, of a stack whose full datagram has any size."""

    def __init__(self, node: str, dev: str, request: "FlowPlan") -> None:
        super().__init__(node, dev, request["port"], min(DATA_BYTES, request.get("size_bytes", DATA_BYTES)))
        self.long_headers = request["stack"]["long_headers"]


class StackDownload(UdpDownload):
    """A download over a stack of the user's under way."""

    def __init__(self, request: "FlowPlan", client: flow.Client, arrival: "Arrival") -> None:
        super().__init__(request, client, arrival)
        self.tool = f"{request['stack']['name']}: client"
        self.process = client

    def refuse(self, _printed: str) -> None:
        """Raise NodeError with the reason for which the client ended."""
        raise _ended(self.process, self.request, "client", "without any data")

    def outcome(self, _printed: str, *, whole: bool, finished: bool) -> "Iperf3Outcome":
        """Return that there is no iperf3; NodeError where the client ended before the download was whole."""
        if finished and (self.process.status or not whole):
            raise _ended(self.process, self.request, "client", "before the download was whole")
        return {"iperf3": None, "iperf3_error": NO_IPERF3}
