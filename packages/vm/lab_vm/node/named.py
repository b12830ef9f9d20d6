# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces that somebody else built, under the names of their nodes; connections that hold namespaces."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from lab.node.net import netns
from lab.node.net.namespace import entered
from lab.node.system.tools import run

CLOSED_S = 15  # for connections whose programs are gone: they hold a namespace, and a sender's module, for minutes


@contextmanager
def named(processes: dict[str, int]) -> Iterator[None]:
    """Name the namespaces of processes (node -> process id) while the block runs."""
    try:
        for node, process in processes.items():
            run("ip", "netns", "attach", node, str(process))
        yield
    finally:
        netns.unname(processes)


def let_go(nodes: list[str]) -> None:
    """Give connections whose programs are gone the time to close, while the wires are there."""
    for _ in range(CLOSED_S * 10):
        if not any(_connected(node) for node in nodes):
            return
        time.sleep(0.1)


def _connected(node: str) -> bool:
    """Return whether a node has connections, apart from those in TIME-WAIT."""
    with entered(node):
        return bool(run("ss", "-Htan", "state", "connected", "exclude", "time-wait").strip())
