# SPDX-License-Identifier: GPL-2.0-or-later
"""iperf3 in reverse mode, as the papers use it: the client requests, the server sends. Both end when they must."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Any

from lab.node.net.namespace import entered
from lab.node.system.tools import NodeError, file_of

if TYPE_CHECKING:
    from lab.node.plan import FlowPlan
    from lab.node.record import Iperf3Report

BLOCK_BYTES = 131072
STOP_S = 1.0  # from SIGTERM to SIGKILL
GONE_S = 1.0  # from there to its end
HANDSHAKE_RTTS = 8  # iperf3's control connection comes before its data
HANDSHAKE_S = 1.0


def handshake_s(rtt_ms: float) -> float:
    """Return how long a client may need from its begin to its first data."""
    return HANDSHAKE_S + HANDSHAKE_RTTS * rtt_ms / 1e3


@contextmanager
def server(node: str, port: int) -> Iterator[int]:
    """Serve tests on a port while the block runs; yields the number of the server's process."""
    argv = ["iperf3", "-s", "-p", str(port), "--forceflush"]
    with entered(node):
        process = subprocess.Popen(
            argv, executable=file_of(argv[0]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    try:
        _await_listening(process)
        yield process.pid
    finally:
        stop_process(process)


def stop_process(process: "subprocess.Popen[str]") -> None:
    """End a process for good."""
    process.terminate()
    try:
        process.communicate(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        kill(process)
        process.communicate()


def kill(process: "subprocess.Popen[Any]") -> None:
    """Kill a process; NodeError where it stays, as one does that sleeps in a hook of its socket."""
    process.kill()
    try:
        process.wait(GONE_S)
    except subprocess.TimeoutExpired:
        name = Path(f"/proc/{process.pid}/comm").read_text().strip()
        raise NodeError(f"{name}: a hook does not return: killed, the process still sleeps in a system call") from None


def _await_listening(process: "subprocess.Popen[str]") -> None:
    assert process.stdout
    printed = ""
    for line in process.stdout:
        printed += line
        if "Server listening" in line:
            return
    raise NodeError(f"iperf3: server does not listen: {printed.strip()[-200:]!r}")


class Client:
    """A client's process in a node of this machine, from its construction on."""

    def __init__(self, argv: list[str], node: str, preload: str | None = None, last_bytes: int | None = None) -> None:
        """Start it; last_bytes: so many of output and errors together are read in the end, instead of all output."""
        self._last_bytes = last_bytes
        environment = os.environ | ({"LD_PRELOAD": preload} if preload else {})
        self._output = os.fdopen(os.memfd_create("output"), "w+", errors="replace")
        errors = subprocess.STDOUT if last_bytes else None
        with entered(node):
            self._process = subprocess.Popen(argv, stdout=self._output, stderr=errors, env=environment)
        self._end = os.fdopen(os.pidfd_open(self._process.pid))  # readable from the process's end on

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Return its exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def ended(self, within_s: float) -> bool:
        """Wait for its end, at most for some seconds."""
        return bool(select([self._end], [], [], within_s)[0])

    def stop(self) -> str:
        """End it, if it has not ended; returns its output."""
        if not self.ended(0):
            self._process.terminate()
        if not self.ended(STOP_S):
            kill(self._process)
        self._process.wait()
        length = os.fstat(self._output.fileno()).st_size
        self._output.seek(max(length - self._last_bytes, 0) if self._last_bytes else 0)
        return self._output.read()


def client(flow: "FlowPlan", address: str) -> list[str]:
    """Build the client's command."""
    return [
        "iperf3",
        "-c",
        address,
        "-p",
        str(flow["port"]),
        "-R",
        "-C",
        flow["algorithm"],
        *_length(flow),
        *(["--cport", str(flow["client_port"])] if "client_port" in flow else []),
        "-l",
        str(BLOCK_BYTES),
        "-J",
    ]


def _length(flow: "FlowPlan") -> list[str]:
    """Build the options for a download's length: in time, or in whole blocks, because the receiver waits for each.

    Without an interval iperf3's client never checks whether it has all. Without `-b 0/1`, one block at a time, its
    sender spins once it has written all, which takes no virtual time and never ends.
    """
    if "size_bytes" not in flow:
        return ["-t", str(ceil(flow["duration_s"])), "-i", "0"]
    return ["-n", str(-(-flow["size_bytes"] // BLOCK_BYTES) * BLOCK_BYTES), "-b", "0/1", "-i", "0.1"]


def read_result(text: str) -> "Iperf3Report":
    """Return iperf3's JSON; NodeError with its own message where the test failed."""
    try:
        result = json.loads(text)
    except ValueError:
        raise NodeError(f"iperf3: no JSON result: {text.strip()[-200:]!r}") from None
    if "error" in result:
        raise NodeError(f"iperf3: {result['error']}")
    report: Iperf3Report = result
    return report
