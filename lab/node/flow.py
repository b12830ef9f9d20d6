# SPDX-License-Identifier: GPL-2.0-or-later
"""iperf3 in reverse mode, as the papers use it: the client asks, the server sends."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.node.namespace import entered
from lab.node.tools import NodeError

BLOCK_BYTES = 131072
GRACE_S = 60  # closing the connection behind a full queue takes round trips of seconds


@contextmanager
def server(node: str, port: int) -> Iterator[None]:
    """Serve tests on a port while the block runs."""
    argv = ["iperf3", "-s", "-p", str(port), "--forceflush"]
    with entered(node):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        _await_listening(process)
        yield
    finally:
        process.terminate()
        process.communicate(timeout=10)


def _await_listening(process: "subprocess.Popen[str]") -> None:
    assert process.stdout
    said = ""
    for line in process.stdout:
        said += line
        if "Server listening" in line:
            return
    raise NodeError(f"iperf3: server does not listen: {said.strip()[-200:]!r}")


def client(flow: dict[str, Any], address: str) -> list[str]:
    """Word the client's command."""
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


def limit_s(flow: dict[str, Any]) -> float:
    """Return after how long a client is given up."""
    return float(flow["duration_s"] + GRACE_S)


def download(flow: dict[str, Any], address: str, preload: str | None) -> dict[str, Any]:
    """Download for the flow's duration and return iperf3's own result."""
    environment = os.environ | ({"LD_PRELOAD": preload} if preload else {})
    try:
        with entered(flow["receiver"]):
            done = subprocess.run(
                client(flow, address),
                capture_output=True,
                text=True,
                env=environment,
                timeout=limit_s(flow),
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise NodeError(f"iperf3: no end {GRACE_S} s after its {flow['duration_s']} s") from None
    return read_result(done.stdout)


def _length(flow: dict[str, Any]) -> list[str]:
    """Word how long a download is: in time, or in whole blocks, for the receiver sleeps until one is there.

    Without an interval iperf3's client never looks whether it has all. Without `-b 0/1`, one block at a time, its
    sender spins once it has written all, which takes no virtual time and never ends.
    """
    if "size_bytes" not in flow:
        return ["-t", str(flow["duration_s"]), "-i", "0"]
    return ["-n", str(-(-flow["size_bytes"] // BLOCK_BYTES) * BLOCK_BYTES), "-b", "0/1", "-i", "0.1"]


def read_result(text: str) -> dict[str, Any]:
    """Take iperf3's JSON, or its own words where the test failed."""
    try:
        result: dict[str, Any] = json.loads(text)
    except ValueError:
        raise NodeError(f"iperf3: no JSON result: {text.strip()[-200:]!r}") from None
    if "error" in result:
        raise NodeError(f"iperf3: {result['error']}")
    return result
