# SPDX-License-Identifier: GPL-2.0-or-later
"""In the virtual kernel: many specs applied one after the other, each read back."""

from lab.node import netns, qdisc
from lab.node.qdiscs.kind import Spec
from lab.node.tools import NodeError

WIRE = {
    "nodes": {"tbf": {"exec": []}, "netem": {"exec": []}},  # a node for each kind
    "links": [{"endpoints": ["tbf:eth1", "netem:eth1"], "mtu": 1500}],
}


def refusals(specs: list[Spec]) -> list[str]:
    """Apply each, and return what was refused."""
    said = []
    with netns.namespaces_up(WIRE):
        for spec in specs:
            try:
                qdisc.apply(spec["kind"], "eth1", spec)
            except NodeError as error:
                said.append(f"{spec}: {error}")
    return said
