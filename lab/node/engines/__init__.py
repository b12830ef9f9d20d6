# SPDX-License-Identifier: GPL-2.0-or-later
"""What builds the nodes: namespaces of our own, containerlab's containers, or Mininet's hosts.

An engine brings a topology up and leaves every node a named network namespace (`ip netns`); from there on all is the
same code. It takes everything down again whatever happens.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lab.node import netns, sockets
from lab.node.engines import containerlab, mininet

Plan = dict[str, Any]
BUILDERS: dict[str, Callable[[Plan, Path], AbstractContextManager[None]]] = {
    "netns": lambda plan, _: netns.namespaces_up(plan["topology"]),
    "containerlab": containerlab.containers_up,
    "mininet": mininet.hosts_up,
}


@contextmanager
def nodes_up(plan: Plan, folder: Path) -> Iterator[None]:
    """Bring the nodes of a plan up with its engine (netns unless it names another); `folder` is the trial's."""
    with BUILDERS[plan.get("engine", "netns")](plan, folder):
        netns.ready(plan["topology"])
        try:
            yield
        finally:
            if plan.get("clock") == "real":
                sockets.let_go(plan["ends"])
