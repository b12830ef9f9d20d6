# SPDX-License-Identifier: GPL-2.0-or-later
"""Network namespaces that somebody else built, under the names of their nodes."""

from collections.abc import Iterator
from contextlib import contextmanager

from lab.node.net import netns
from lab.node.system.tools import run


@contextmanager
def named(processes: dict[str, int]) -> Iterator[None]:
    """Name the namespaces of processes (node -> process id) while the block runs."""
    try:
        for node, process in processes.items():
            run("ip", "netns", "attach", node, str(process))
        yield
    finally:
        netns.unname(processes)
