# SPDX-License-Identifier: GPL-2.0-or-later
"""Engine `mininet`: every node is a Mininet host, built by topologies/mininet.py, which the trial's folder holds.

Mininet is a Python package of Debian's, which the system's Python imports; there is neither a switch nor a controller.
"""

import importlib
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from lab.node.system.tools import NodeError
from lab_vm.node.named import named

if TYPE_CHECKING:
    from lab.node.plan import NodesPlan


@contextmanager
def hosts_up(plan: "NodesPlan", folder: Path) -> Iterator[None]:
    """Start the Mininet network of a plan."""
    network = require()
    graph = runpy.run_path(str(folder / "topology/mininet.py"))["Clab"](plan["topology"])
    net = network.Mininet(topo=graph, controller=None, build=False)
    try:
        net.start()
        with named({node: net[node].pid for node in plan["topology"]["nodes"]}):
            yield
    finally:
        net.stop()


def require() -> ModuleType:
    """Return Mininet's own module; NodeError where there is none."""
    try:
        return importlib.import_module("mininet.net")
    except ImportError:
        raise NodeError("mininet: not installed for this Python: run 'make provision'") from None
