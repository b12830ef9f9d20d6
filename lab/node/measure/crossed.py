# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the idle path goes through what shapes the link.

A download that goes round the bottleneck has no rate at all: in virtual time it never ends.
"""

from typing import TYPE_CHECKING

from lab.node.measure.counters import HERE, read_links
from lab.node.net.namespace import entered
from lab.node.system import small_file
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Shape
    from lab.node.record import Probed


def require(shapes: "list[Shape]", probes: "list[Probed]") -> None:
    """Refuse a shape whose interface sent fewer frames than probes of its way arrived."""
    arrived: dict[str, int] = {probe["way"]: len(probe["arrived"]) for probe in probes}
    for shape in shapes:
        node, dev, part = shape["node"], shape["dev"], shape["part"]
        way = "up" if part.endswith("-up") else "down"
        with entered(node):
            sent = read_links(small_file.read(HERE / "dev"))[dev]["tx_pkts"]
        if sent < arrived[way]:
            place = f"{node}:{dev}, the {part}"
            raise NodeError(f"{place}: {sent} of {arrived[way]} probes: must be crossed by all, on the only path")
