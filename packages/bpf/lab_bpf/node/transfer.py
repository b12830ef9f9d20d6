# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF in use: loaded, a download over a shaped path, its exit, unloaded, and what is left of it.

`python -m lab_bpf.node.transfer OBJECT RESULT BPFTOOL...`, as root on a kernel with netem; the result is JSON.
"""

import json
import platform
import socket
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TypedDict

from lab.node.net import netns
from lab.node.net.namespace import entered
from lab.node.system.tools import NodeError
from lab_bpf.node import loader

DOWN = "netem limit 2000 delay 25ms rate 8mbit"  # a deep buffer: no loss before SEARCH leaves
UP = "netem limit 2000 delay 25ms"
PORT = 5201
CHUNK = bytes(1 << 16)
TCP_CONGESTION = 13
DOWNLOAD_S = 10.0


class Transfer(TypedDict):
    """What was seen of it."""

    kernel: str
    algorithm: str  # the flow's, as its socket reports it
    received_bytes: int
    exits: list[loader.Exit]
    left: list[str]  # programs and maps, once it is unloaded
    available: str  # the kernel's congestion controls, then


def transfer(program: Path, bpftool: list[str]) -> Transfer:
    """Load, download, read the exits, unload."""
    loader.this_machine().require_able("bpf_transfer")
    loader.load(program, bpftool)
    try:
        algorithm, received_bytes = _download()
        exits = loader.exits(bpftool)
    finally:
        left = loader.unload(bpftool)
    return {
        "kernel": platform.release(),
        "algorithm": algorithm,
        "received_bytes": received_bytes,
        "exits": exits,
        "left": left,
        "available": loader.AVAILABLE.read_text().strip(),
    }


def _download() -> tuple[str, int]:
    """Send for some seconds from one namespace to another; return the sender's algorithm and the bytes received."""
    with netns.pair_up(DOWN, UP), ExitStack() as stack:
        with entered("sender"):
            listening = stack.enter_context(socket.create_server(("10.0.0.1", PORT)))
        listening.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, loader.NAME.encode())
        with entered("receiver"):
            receiver = stack.enter_context(socket.socket())
        receiver.connect(("10.0.0.1", PORT))
        sender = stack.enter_context(listening.accept()[0])
        name = sender.getsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, 16).rstrip(b"\0").decode()
        sending = threading.Thread(target=_send, args=(sender,))
        sending.start()
        received_bytes = 0
        while got := receiver.recv(len(CHUNK)):
            received_bytes += len(got)
        sending.join()
    return name, received_bytes


def _send(sender: socket.socket) -> None:
    end_s = time.monotonic() + DOWNLOAD_S
    while time.monotonic() < end_s:
        sender.send(CHUNK)
    sender.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    try:
        Path(sys.argv[2]).write_text(json.dumps(transfer(Path(sys.argv[1]), sys.argv[3:])))
    except NodeError as error:
        sys.exit(str(error))
