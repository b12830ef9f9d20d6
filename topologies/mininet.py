# SPDX-License-Identifier: GPL-2.0-or-later
"""Any containerlab file of this folder, for Mininet.

    sudo mn --custom topologies/mininet.py --topo clab,FILE

FILE is a path such as topologies/path/path.clab.yml. Every link is as fast as the machine allows: rates and delays are
the lab's. Mininet and PyYAML are packages of Debian's (mininet, python3-yaml).
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.stderr.write("topologies/mininet.py: must be read by Mininet: sudo mn --custom FILE --topo clab,TOPOLOGY\n")
    sys.exit(2)

from mininet.node import Node
from mininet.topo import Topo


class ClabNode(Node):
    """A node that runs its own commands once its interfaces exist, as a container runs its `exec` lines."""

    def config(self, commands=(), **params):
        """Run the commands, and let Mininet read the addresses that they set; RuntimeError names one that prints."""
        super().config(**params)
        for command in commands:
            printed = self.cmd(command).strip()
            if printed:
                raise RuntimeError(f"{self.name}: {command}: {printed}")
        for interface in self.intfList():
            interface.updateIP()


class Clab(Topo):
    """The graph of a containerlab file: `nodes` with their `exec` lines, `links` with two ends and an MTU."""

    def build(self, graph):
        """Add nodes, then links. A node sets its interfaces up before it runs its `exec` lines."""
        ends = [(*end.split(":"), link["mtu"]) for link in graph["links"] for end in link["endpoints"]]
        for name, node in graph["nodes"].items():
            up = [f"ip link set dev {dev} mtu {mtu} up" for owner, dev, mtu in ends if owner == name]
            self.addHost(name, cls=ClabNode, ip=None, commands=[*up, *node.get("exec", [])])
        for (node1, dev1, _), (node2, dev2, _) in zip(ends[::2], ends[1::2], strict=True):
            self.addLink(node1, node2, intfName1=dev1, intfName2=dev2)


def clab(file):
    """Read a containerlab file."""
    import yaml  # here: the lab's engine builds Clab of its plan, and needs no YAML

    return Clab(yaml.safe_load(Path(file).read_text(encoding="utf-8"))["topology"])


topos = {"clab": clab}
