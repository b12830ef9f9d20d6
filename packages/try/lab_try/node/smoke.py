# SPDX-License-Identifier: GPL-2.0-or-later
"""In the virtual kernel: load a stranger's congestion control, let some flows use it, and unload it again.

What a flow meets in a second: a queue that overflows, a pause of the application, and the end of a socket in mid-flow.
"""

import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypedDict

from lab.node.measure import kmemleak
from lab.node.net import netns
from lab.node.net.namespace import entered
from lab.node.system import modules
from lab.node.system.tools import NodeError

TRIAL = Path("/trial")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
STEP_FILE = "step"  # below TRIAL: what the guest is about to do, for a host that has to end it
DOWN = "netem limit 60 delay 20ms rate 20mbit"
UP = "netem limit 1000 delay 20ms"
PORT = 5201
TCP_INFO, TCP_CONGESTION = 11, 13
ECN_BITS = 3  # of the type of service (RFC 3168, section 5)
CWND_OFFSET = 80  # of tcpi_snd_cwnd in struct tcp_info
CHUNK = bytes(1 << 16)
UNLOAD_S = 2
LONG_S, PAUSED_S, SHORT_S = 0.8, 0.3, 0.2


class Flow(TypedDict):
    """What one flow of an algorithm moved, and the smallest and largest window seen."""

    got_bytes: int
    least_cwnd_pkts: int
    most_cwnd_pkts: int


class Smoke(TypedDict):
    """What a module registered, and how its flows went."""

    algorithms: dict[str, list[Flow]]
    needs_ecn: list[str]  # those that react to marks (TCP_CONG_NEEDS_ECN)
    parameters: dict[str, str]
    leaks: list[str]  # what kmemleak suspects, one line each; empty where the kernel does not look


def smoke(file: str, name: str, params: dict[str, int | str], depends: list[str]) -> Smoke:
    """Load, use and unload a module; NodeError names the step that the kernel refuses."""
    kmemleak.begin()
    _step("loading")
    modules.load_all(depends)
    before = _available()
    modules.load(name, params, TRIAL / file)
    new = sorted(_available() - before)
    if not new:
        raise NodeError(f"module {name}: algorithms=none: must register a congestion control in its init")
    parameters = modules.readable(name)
    with netns.pair_up(DOWN, UP):
        flows = {algorithm: list(_flows(algorithm)) for algorithm in new}
    needs_ecn = [algorithm for algorithm in new if _needs_ecn(algorithm)]
    _step("unloading")
    modules.unload([name], UNLOAD_S)
    time.sleep(SHORT_S)  # a timer that the module has left now runs into code that is gone
    return {"algorithms": flows, "needs_ecn": needs_ecn, "parameters": parameters, "leaks": kmemleak.objects()}


def _available() -> set[str]:
    return set(AVAILABLE.read_text(errors="replace").split())


def _needs_ecn(algorithm: str) -> bool:
    """Return whether the kernel lets a socket's packets be marked as it takes the algorithm."""
    with socket.socket() as taking:
        taking.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, algorithm.encode())
        return bool(taking.getsockopt(socket.IPPROTO_IP, socket.IP_TOS) & ECN_BITS)


def _step(text: str) -> None:
    (TRIAL / STEP_FILE).write_text(text)


def _flows(algorithm: str) -> Iterator[Flow]:
    """Move data long enough for losses, then with a pause, then until the receiver resets the connection."""
    _step(f"a flow of {algorithm}")
    with _connected(algorithm) as (sender, receiver):
        yield _move(sender, receiver, LONG_S)
    _step(f"a flow of {algorithm} after a pause")
    with _connected(algorithm) as (sender, receiver):
        _move(sender, receiver, SHORT_S)
        time.sleep(PAUSED_S)
        yield _move(sender, receiver, SHORT_S)
    _step(f"a flow of {algorithm} that is reset")
    with _connected(algorithm) as (sender, receiver):
        flow = _move(sender, receiver, SHORT_S)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        receiver.close()
        time.sleep(SHORT_S)
        yield flow


@contextmanager
def _connected(algorithm: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield both ends of a connection, whose sender has the algorithm from its first segment on."""
    with ExitStack() as stack:
        with entered("sender"):
            server = stack.enter_context(socket.socket())
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, algorithm.encode())
        except OSError as error:  # the kernel lists names without marks between them
            raise NodeError(f"name={algorithm}: {error.strerror}: must be letters, digits and _ . - only") from None
        server.bind(("", PORT))
        server.listen()
        with entered("receiver"):
            receiver = stack.enter_context(socket.socket())
        receiver.connect(("10.0.0.1", PORT))
        sender = stack.enter_context(server.accept()[0])
        for end in (sender, receiver):
            end.setblocking(False)
        yield sender, receiver


def _move(sender: socket.socket, receiver: socket.socket, for_s: float) -> Flow:
    """Send as much as the window allows for some seconds."""
    end_s, got_bytes, windows = time.monotonic() + for_s, 0, [_cwnd_pkts(sender)]
    while (left_s := end_s - time.monotonic()) > 0:
        readable, writable, _ = select.select([receiver], [sender], [], left_s)
        try:
            if writable:
                sender.send(CHUNK)
            if readable:
                got_bytes += len(receiver.recv(len(CHUNK)))
        except BlockingIOError:
            pass
        windows.append(_cwnd_pkts(sender))
        if not readable:
            time.sleep(0.001)  # a window that never fills the socket's buffer would keep the time from passing
    return {"got_bytes": got_bytes, "least_cwnd_pkts": min(windows), "most_cwnd_pkts": max(windows)}


def _cwnd_pkts(sender: socket.socket) -> int:
    info: Any = sender.getsockopt(socket.IPPROTO_TCP, TCP_INFO, CWND_OFFSET + 4)
    return int(struct.unpack_from("I", info, CWND_OFFSET)[0])
