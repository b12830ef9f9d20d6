# SPDX-License-Identifier: GPL-2.0-or-later
"""Switch senders under a flow on one processor while another one sends it.

`python3 -m tests.guest.smp SECONDS`, as root: what the virtual kernel, with its one processor, cannot show. Every
sender that this kernel has takes part, over a loopback of its own with delay and loss. Prints how much was switched and
sent, and the kernel's complaints.
"""

import json
import os
import random
import select
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lab.node.measure.splats import splats
from lab.node.net import route
from lab.node.net.namespace import CLONE_NEWNET
from lab.node.net.netlink import Netlink
from lab.node.system import modules
from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError, run

FLOWS = 32
CHUNK = b"x" * 65536
LOSSY = "tc qdisc add dev lo root netem delay 5ms loss 0.5%"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def switching(seconds: float) -> dict[str, Any]:
    """Switch every flow's sender at random for so long; returns counts and complaints."""
    mine = _loaded()
    LIBC.unshare(CLONE_NEWNET)
    with Netlink("lo") as link:
        route.bring_up(link, "lo")
    run(*LOSSY.split())
    algorithms = AVAILABLE.read_text().split()
    run("dmesg", "--clear")
    pairs = list(_connected())
    movers = [_forked(_receive, [far for _, far in pairs]), _forked(_send, [near for near, _ in pairs])]
    switches = _switch([near for near, _ in pairs], algorithms, seconds)
    for pid in movers:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    acked_bytes = sum(_acked_bytes(near) for near, _ in pairs)
    for one in (one for pair in pairs for one in pair):
        one.close()
    return {
        "processors": os.cpu_count(),
        "algorithms": algorithms,
        "switches": switches,
        "acked_bytes": acked_bytes,
        "complaints": splats(run("dmesg")),
        "left": _unloaded(mine),
    }


def _loaded() -> list[str]:
    """Load every module that may be a sender's; returns those that were not there before."""
    files = Path(f"/lib/modules/{os.uname().release}").rglob("tcp_*.ko*")
    found = {file.name.split(".")[0] for file in files} - {"tcp_diag", "tcp_slow_start_kunit"}
    missing = sorted(name for name in found if not modules.loaded(name))
    for name in missing:
        with suppress(NodeError):  # a probe, or a test, is none
            run("modprobe", name)
    return missing


def _unloaded(names: list[str]) -> list[str]:
    """Unload modules, whichever needs which, as their last sockets go; returns what stays."""
    until = time.monotonic() + modules.PATIENCE_S
    while (left := [name for name in names if modules.loaded(name)]) and time.monotonic() < until:
        for name in left:
            with suppress(NodeError):
                run("modprobe", "--remove", name)
        time.sleep(0.2)
    return left


def _connected() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as server:
        for _ in range(FLOWS):
            near = socket.create_connection(server.getsockname())
            yield near, server.accept()[0]


def _forked(work: Any, sockets: list[socket.socket]) -> int:
    """Start a function in a process of its own, on the first processor; the switching happens on the last."""
    pid = os.fork()
    if not pid:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        work(sockets)
        os._exit(0)
    return pid


def _send(sockets: list[socket.socket]) -> None:
    for one in sockets:
        one.setblocking(False)
    while True:
        for one in select.select([], sockets, [])[1]:
            with suppress(BlockingIOError):
                one.send(CHUNK)


def _receive(sockets: list[socket.socket]) -> None:
    while True:
        for one in select.select(sockets, [], [])[0]:
            one.recv(1 << 20)


def _switch(sockets: list[socket.socket], algorithms: list[str], seconds: float) -> int:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    chance, until, count = random.Random(1), time.monotonic() + seconds, 0  # noqa: S311
    while time.monotonic() < until:
        chance.choice(sockets).setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, chance.choice(algorithms).encode())
        count += 1
    return count


def _acked_bytes(one: socket.socket) -> int:
    """Read tcpi_bytes_acked (include/uapi/linux/tcp.h)."""
    return int.from_bytes(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)[120:128], sys.byteorder)


if __name__ == "__main__":
    found = switching(float(sys.argv[1]))
    print(json.dumps(found))
    sys.exit(bool(found["complaints"] or found["left"]) or not found["acked_bytes"])
