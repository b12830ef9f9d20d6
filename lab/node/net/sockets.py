# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP connections that outlive their programs: they hold a namespace, and a sender's module, for minutes."""

import time

from lab.node.net.namespace import entered
from lab.node.system.tools import run

PATIENCE_S = 15


def let_go(nodes: list[str]) -> None:
    """Give connections whose programs are gone the time to close, while the wires are there."""
    for _ in range(PATIENCE_S * 10):
        if not any(_connected(node) for node in nodes):
            return
        time.sleep(0.1)


def _connected(node: str) -> bool:
    """Return whether a node has connections, apart from those in TIME-WAIT."""
    with entered(node):
        return bool(run("ss", "-Htan", "state", "connected", "exclude", "time-wait").strip())
