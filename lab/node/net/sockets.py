# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP connections that outlive their programs: they hold a namespace, and a sender's module, for minutes."""

import time
from pathlib import Path

from lab.node.net import sysctl
from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import run

PATIENCE_S = 15
SOCKSTAT = Path("/proc/net/sockstat")


def let_go(nodes: list[str]) -> None:
    """Give connections whose programs are gone the time to close, while the wires are there."""
    for _ in range(PATIENCE_S * 10):
        if not any(_connected(node) for node in nodes):
            return
        time.sleep(0.1)


def give_up(nodes: list[str]) -> None:
    """Have connections whose programs are gone, or go, end with the second timeout instead of the ninth."""
    for node in nodes:
        sysctl.pin(node, {"net.ipv4.tcp_orphan_retries": "1"})


def orphans() -> int:
    """Return how many connections of this kernel have lost their program."""
    words = small_file.read(SOCKSTAT).split()
    return int(words[words.index("orphan") + 1])


def _connected(node: str) -> bool:
    """Return whether a node has connections, apart from those in TIME-WAIT."""
    with entered(node):
        return bool(run("ss", "-Htan", "state", "connected", "exclude", "time-wait").strip())
