# SPDX-License-Identifier: GPL-2.0-or-later
"""A download that ends at its time, whatever its link's queue holds.

Its time counts from the first data segment that arrives at the client. iperf3 then talks over its control connection,
which waits behind all that is queued: it may do so for CLOSING_S, and is stopped. What was transferred is measured by
the capture and the sender's kernel; iperf3's own result is a cross-check where there is one.
"""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from lab.node.measure import counters
from lab.node.net.netns import interfaces
from lab.node.system.tools import NodeError
from lab.node.traffic import flow
from lab.node.traffic.arrival import Arrival

if TYPE_CHECKING:
    from lab.node.plan import FlowPlan, Plan
    from lab.node.record import DownloadRecord, Iperf3Outcome

START_S = 30  # by then the first data have arrived: a handshake that loses packets tries again after 1, 2, 4 and 8 s
CLOSING_S = 2.0  # lets iperf3 finish on a link that is not slow
NO_DATA = "no data in its time"
POLL_S = 0.1  # how soon a client is noticed that ended before any data


class AnyClient(Protocol):
    """A client's process, here or on a second machine."""

    def ended(self, within_s: float) -> bool:
        """Wait for its end, at most for some seconds."""

    def stop(self) -> str:
        """End it, if it has not ended; returns its output."""


class Download:
    """One download under way."""

    tool = "iperf3"

    def __init__(self, request: "FlowPlan", client: AnyClient, arrival: Arrival, beside: bool = False) -> None:
        """Take a request with its client; `beside`: others may leave it nothing, and the trial goes on."""
        self.request, self.client, self.arrival, self.beside = request, client, arrival, beside

    def measure(self) -> "DownloadRecord":
        """Wait for the end, and stop the client.

        Returns when the first data came and until when the client was there (monotonic, ns), the segments sent again
        between the two, and iperf3's result, or why there is none. Where others left it no data, its time begins at
        once.
        """
        begin_ns = time.monotonic_ns()
        data_ns = self._first_data(begin_ns)
        if data_ns is None:
            self.client.stop()
            without: DownloadRecord = {
                "data_ns": begin_ns,
                "until_ns": time.monotonic_ns(),
                "retransmits_pkts": self.sent_again_pkts(),
                "iperf3": None,
                "iperf3_error": NO_DATA,
            }
            return without
        sent_again_pkts = self.sent_again_pkts()
        end_ns = data_ns + round(self.request["duration_s"] * 1e9)
        early = self.client.ended(max(end_ns - time.monotonic_ns(), 0) / 1e9)
        until_ns = time.monotonic_ns()
        retransmits_pkts = self.sent_again_pkts() - sent_again_pkts
        finished = early or self.client.ended(CLOSING_S)
        # A download of a size ends its client, whose last exchange with the server may fail behind a long queue.
        whole = not early or "size_bytes" in self.request
        outcome = self.outcome(self.client.stop(), whole=whole, finished=finished)
        return {"data_ns": data_ns, "until_ns": until_ns, "retransmits_pkts": retransmits_pkts, **outcome}

    def _first_data(self, begin_ns: int) -> int | None:
        """Return when the first data segment arrived; where none does, None beside others, else NodeError."""
        within_s = self.request["duration_s"] + CLOSING_S if self.beside else START_S
        why = f"no data within {START_S} s"
        while time.monotonic_ns() < begin_ns + within_s * 1e9:
            data_ns = self.arrival.within(POLL_S)
            if data_ns is not None:
                self.arrival.close()
                return data_ns
            if self.client.ended(0):
                self.refuse(self.client.stop())
                why = "ended without any data"
                break
        if self.beside:
            return None
        raise NodeError(f"{self.tool}: {why} of the download under test")

    def sent_again_pkts(self) -> int:
        """Return how many segments the sender's kernel has retransmitted so far."""
        return counters.sent_again_pkts(self.request["sender"])

    def refuse(self, printed: str) -> None:
        """Raise NodeError with the client's own reason, where it has one."""
        flow.read_result(printed)

    def outcome(self, printed: str, *, whole: bool, finished: bool) -> "Iperf3Outcome":
        """Return the client's result; NodeError where it ended before the download was whole."""
        return result(printed, whole=whole, finished=finished)


def result(printed: str, *, whole: bool, finished: bool) -> "Iperf3Outcome":
    """Return iperf3's result, or why there is none; NodeError where it ended before the download was whole."""
    if not finished:
        return {"iperf3": None, "iperf3_error": f"stopped {CLOSING_S:g} s after the download's end"}
    try:
        return {"iperf3": flow.read_result(printed), "iperf3_error": None}
    except NodeError as error:
        if not whole:
            raise
        return {"iperf3": None, "iperf3_error": str(error)}


@contextmanager
def begun(plan: "Plan", request: "FlowPlan", far: Any = None) -> Iterator[Download]:
    """Begin one of a plan's downloads; its client does not outlive the block. `far` runs it where its TCP is afar."""
    node = request["receiver"]
    argv = flow.client(request, plan["addresses"][request["sender"]])
    with closing(Arrival(node, interfaces(plan["topology"], node)[0], request["port"])) as arrival:
        client = far.client(argv) if far else flow.Client(argv, node, plan["preload"])
        try:
            yield Download(request, client, arrival, beside=request is not plan["flows"][0])
        finally:
            client.stop()
