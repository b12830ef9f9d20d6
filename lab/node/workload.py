# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial whose client requests objects over one connection: a workload's two ends stand where iperf3's do.

The first connection is the control connection, as iperf3's is: its one byte reports that the sender is ready. A request
begins with the size of its response and its own, and is padded. Both ends write what they saw into the trial's folder.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any

from lab.node import trial
from lab.node.net.forked import Forked
from lab.node.net.namespace import entered
from lab.node.net.netns import interfaces
from lab.node.system.tools import NodeError
from lab.node.traffic import download, workload_ends
from lab.node.traffic.arrival import Arrival

if TYPE_CHECKING:
    from lab.node.plan import FlowPlan, Plan
    from lab.node.record import Iperf3Outcome

NO_IPERF3 = "none: a workload's client requested the objects"
CLIENT, SERVER = "workload-client.json", "workload-server.json"


def run_trial(plan: "Plan", folder: Path) -> None:
    """Execute a plan whose client requests a workload's objects."""
    trial.run_trial(plan, folder, partial(served, folder=folder), partial(begun, folder=folder))


@contextmanager
def served(request: "FlowPlan", folder: Path) -> Iterator[int]:
    """Serve one client while the block runs; yields the number of the server's process."""
    with entered(request["sender"]):
        listener = socket.create_server(("", request["port"]))
    with listener:
        server = End(request["sender"], workload_ends.serve, listener, request["algorithm"], folder / SERVER)
        try:
            yield server.pid
        finally:
            if failure := server.stop():
                raise NodeError(failure)


@contextmanager
def begun(plan: "Plan", request: "FlowPlan", _far: object = None, *, folder: Path) -> Iterator["Requested"]:
    """Begin the requests; their client does not outlive the block."""
    node = request["receiver"]
    place = (plan["addresses"][request["sender"]], request["port"])
    with closing(Arrival(node, interfaces(plan["topology"], node)[0], request["port"])) as arrival:
        client = End(node, workload_ends.fetch, place, request["workload"], folder / CLIENT)
        try:
            yield Requested(request, client, arrival)
        finally:
            client.stop()


class End(Forked):
    """One end of the connection, a process in a node from its construction on."""

    def __init__(self, node: str, work: Callable[..., Any], *args: Any) -> None:
        super().__init__(node, work, *args)
        self._end = os.fdopen(os.pidfd_open(self.pid))  # readable from the process's end on
        self._printed: str | None = None

    def ended(self, within_s: float) -> bool:
        """Wait for its end, at most for some seconds."""
        return self._printed is not None or bool(select([self._end], [], [], within_s)[0])

    def stop(self) -> str:
        """End it, if it has not ended; returns why it failed, or nothing."""
        if self._printed is None:
            try:
                super().stop()
                self._printed = ""
            except NodeError as error:
                self._printed = str(error)
            self._end.close()
        return self._printed


class Requested(download.Download):
    """A workload under way."""

    tool = "workload"

    def refuse(self, printed: str) -> None:
        """Raise NodeError with the reason for which the client ended."""
        raise NodeError(printed or f"{self.tool}: the client ended without a reason")

    def outcome(self, printed: str, *, whole: bool, finished: bool) -> "Iperf3Outcome":  # noqa: ARG002 (the log has what came)
        """Return that there is no iperf3; NodeError where the client failed."""
        if printed:
            self.refuse(printed)
        return {"iperf3": None, "iperf3_error": NO_IPERF3}
