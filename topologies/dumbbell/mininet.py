# SPDX-License-Identifier: GPL-2.0-or-later
"""dumbbell.clab.yml for Mininet:   sudo mn --custom topologies/dumbbell/mininet.py --topo dumbbell,n=2

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


class Dumbbell(Topo):
    """n servers and n clients, with one path between their two routers."""

    def build(self, n=2):
        """Add the middle, then a server and a client at a time."""
        self.addHost("gateway", ip=None, cls=Router, routes=[("10.0.3.0/24", "10.0.2.2"), ("10.2.0.0/16", "10.0.2.2")])
        self.addHost(
            "satellite", ip=None, cls=Router, routes=[("10.1.0.0/16", "10.0.2.1"), ("10.2.0.0/16", "10.0.3.2")]
        )
        self.addHost("terminal", ip=None, cls=Router, routes=[("10.0.2.0/24", "10.0.3.1"), ("10.1.0.0/16", "10.0.3.1")])
        self.wire("gateway:eth1", "10.0.2.1/24", "satellite:eth1", "10.0.2.2/24")
        self.wire("satellite:eth2", "10.0.3.1/24", "terminal:eth1", "10.0.3.2/24")
        for i in range(1, n + 1):
            self.addHost(f"server{i}", ip=None, defaultRoute=f"via 10.1.{i}.2")
            self.addHost(f"client{i}", ip=None, defaultRoute=f"via 10.2.{i}.1")
            self.wire(f"server{i}:eth1", f"10.1.{i}.1/24", f"gateway:eth{i + 1}", f"10.1.{i}.2/24")
            self.wire(f"terminal:eth{i + 1}", f"10.2.{i}.1/24", f"client{i}:eth1", f"10.2.{i}.2/24")

    def wire(self, end1, address1, end2, address2):
        """Link two `node:interface` ends, each with its address."""
        (node1, dev1), (node2, dev2) = end1.split(":"), end2.split(":")
        names = {"intfName1": dev1, "intfName2": dev2}
        self.addLink(node1, node2, **names, params1={"ip": address1}, params2={"ip": address2})


topos = {"dumbbell": Dumbbell}
