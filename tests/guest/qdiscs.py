# SPDX-License-Identifier: GPL-2.0-or-later
"""In the virtual kernel: many specs applied one after the other, each read back; an interface that is sampled."""

import time
from typing import Any

from lab.node import modules, netns, qdisc
from lab.node.namespace import entered
from lab.node.plan import Topology
from lab.node.qdisc_kind import Spec
from lab.node.sampler import MODULE, PARAMETERS, sampling
from lab.node.tools import NodeError

WIRE: Topology = {
    "nodes": {"tbf": {"exec": []}, "netem": {"exec": []}},  # a node for each kind
    "links": [{"endpoints": ["tbf:eth1", "netem:eth1"], "mtu": 1500}],
}


def refusals(specs: list[Spec]) -> list[str]:
    """Apply each, and return what was refused."""
    printed = []
    with netns.namespaces_up(WIRE):
        for spec in specs:
            try:
                qdisc.apply(spec["kind"], "eth1", spec)
            except NodeError as error:
                printed.append(f"{spec}: {error}")
    return printed


def sampled() -> dict[str, Any]:
    """Sample an interface until its namespace goes, as that of a trial that was killed."""
    modules.load_all([MODULE])
    reported: dict[str, Any] = {}
    with netns.namespaces_up(WIRE):
        try:
            with sampling(("tbf", "eth9"), 1000):
                pass
        except NodeError as error:
            reported["refused"] = str(error)
        with entered("tbf"):
            (PARAMETERS / "dev").write_text("eth1")
        reported["while_up"] = _sampled()
    for _ in range(100):
        if not _sampled():
            break
        time.sleep(0.1)
    reported["after_its_end"] = _sampled()
    modules.unload([MODULE])
    return reported | {"loaded": modules.loaded(MODULE)}


def _sampled() -> str:
    return (PARAMETERS / "dev").read_text().strip()
