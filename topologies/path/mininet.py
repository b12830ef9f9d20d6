# SPDX-License-Identifier: GPL-2.0-or-later
"""path.clab.yml for Mininet:   sudo mn --custom topologies/path/mininet.py --topo path

`lab check` compares the two files. Rates and delays are the lab's business: as it is, every link is as fast as it can.
"""

from mininet.node import Node
from mininet.topo import Topo


class Router(Node):
    """A node that forwards; `routes` are destinations with their next hop."""

    def config(self, routes=(), **params):
        """Configure addresses as any node does, then forward."""
        super().config(**params)
        self.cmd("sysctl -q -w net.ipv4.ip_forward=1")
        for destination, hop in routes:
            self.cmd(f"ip route add {destination} via {hop}")


class Path(Topo):
    """server - gateway - satellite - client."""

    def build(self):
        """Add the nodes, and the links from the server to the client."""
        self.addHost("server", ip=None, defaultRoute="via 10.0.1.2")
        self.addHost("gateway", ip=None, cls=Router, routes=[("10.0.3.0/24", "10.0.2.2")])
        self.addHost("satellite", ip=None, cls=Router, routes=[("10.0.1.0/24", "10.0.2.1")])
        self.addHost("client", ip=None, defaultRoute="via 10.0.3.1")
        self.wire("server:eth1", "10.0.1.1/24", "gateway:eth1", "10.0.1.2/24")
        self.wire("gateway:eth2", "10.0.2.1/24", "satellite:eth1", "10.0.2.2/24")
        self.wire("satellite:eth2", "10.0.3.1/24", "client:eth1", "10.0.3.2/24")

    def wire(self, end1, address1, end2, address2):
        """Link two `node:interface` ends, each with its address."""
        (node1, dev1), (node2, dev2) = end1.split(":"), end2.split(":")
        names = {"intfName1": dev1, "intfName2": dev2}
        self.addLink(node1, node2, **names, params1={"ip": address1}, params2={"ip": address2})


topos = {"path": Path}
