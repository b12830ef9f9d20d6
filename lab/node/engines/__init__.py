# SPDX-License-Identifier: GPL-2.0-or-later
"""What builds the nodes: namespaces of our own, containerlab's containers, or Mininet's hosts.

An engine brings a topology up and leaves every node a named network namespace (`ip netns`); from there on all is the
same code. It takes everything down again whatever happens.
"""

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lab.node import netns, sockets

Plan = dict[str, Any]
BUILDERS = {"containerlab": "containers_up", "mininet": "hosts_up"}  # a module each, loaded where it is used


@contextmanager
def nodes_up(plan: Plan, folder: Path) -> Iterator[None]:
    """Bring the nodes of a plan up with its engine (netns unless it names another); `folder` is the trial's."""
    with _built(plan, folder):
        netns.ready(plan["topology"])
        if plan.get("clock") == "real":
            netns.keep_order(plan["topology"])
        try:
            yield
        finally:
            if plan.get("clock") == "real":
                sockets.let_go(plan["ends"])


def _built(plan: Plan, folder: Path) -> AbstractContextManager[None]:
    engine = plan.get("engine", "netns")
    if engine == "netns":
        return netns.namespaces_up(plan["topology"])
    module = importlib.import_module(f"lab.node.engines.{engine}")
    built: AbstractContextManager[None] = getattr(module, BUILDERS[engine])(plan, folder)
    return built
