# SPDX-License-Identifier: GPL-2.0-or-later
"""What builds the nodes: namespaces of our own, containerlab's containers, Mininet's hosts, or a pair of machines.

An engine brings a topology up and leaves every node a named network namespace (`ip netns`); from there on all is the
same code. It takes everything down again whatever happens.
"""

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node.net import netns, sockets

if TYPE_CHECKING:
    from lab.node.plan import NodesPlan

BUILDERS = {
    "containerlab": "containers_up",
    "mininet": "hosts_up",
    "pair": "client_afar",
}  # a module each, loaded where it is used


@contextmanager
def nodes_up(plan: "NodesPlan", folder: Path) -> Iterator[Any]:
    """Bring the nodes of a plan up with its engine (netns unless it names another); `folder` is the trial's.

    What is yielded is the far machine where the client's TCP runs on one (pair), else None.
    """
    with _built(plan, folder) as far:
        netns.ready(plan["topology"])
        if plan.get("clock") == "real":
            netns.keep_order(plan["topology"])
        try:
            yield far
        finally:
            if plan.get("clock") == "real":
                sockets.let_go(plan["ends"])


def _built(plan: "NodesPlan", folder: Path) -> AbstractContextManager[Any]:
    engine = plan.get("engine", "netns")
    if engine == "netns":
        return netns.namespaces_up(plan["topology"])
    module = importlib.import_module(f"lab.node.engines.{engine}")
    built: AbstractContextManager[Any] = getattr(module, BUILDERS[engine])(plan, folder)
    return built
