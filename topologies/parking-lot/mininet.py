# SPDX-License-Identifier: GPL-2.0-or-later
"""parking-lot.clab.yml for Mininet:   sudo mn --custom topologies/parking-lot/mininet.py --topo parking-lot

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


class ParkingLot(Topo):
    """One flow over both hops between three routers, one more over each."""

    def build(self):
        """Add the routers, then the three pairs of hosts."""
        self.addHost(
            "router1", ip=None, cls=Router, routes=self.over("10.0.1.2", "10.0.2.0/24", "10.1.2.0/24", "10.2.0.0/16")
        )
        west, east = self.over("10.0.1.1", "10.1.0.0/23"), self.over("10.0.2.2", "10.2.0.0/24", "10.2.2.0/24")
        self.addHost("router2", ip=None, cls=Router, routes=west + east)
        self.addHost(
            "router3", ip=None, cls=Router, routes=self.over("10.0.2.1", "10.0.1.0/24", "10.1.0.0/16", "10.2.1.0/24")
        )
        self.wire("router1:eth1", "10.0.1.1/24", "router2:eth1", "10.0.1.2/24")
        self.wire("router2:eth2", "10.0.2.1/24", "router3:eth1", "10.0.2.2/24")
        self.pair("server", "router1:eth2", "10.1.0", "client", "router3:eth2", "10.2.0")
        self.pair("server1", "router1:eth3", "10.1.1", "client1", "router2:eth3", "10.2.1")
        self.pair("server2", "router2:eth4", "10.1.2", "client2", "router3:eth3", "10.2.2")

    def over(self, hop, *destinations):
        """Word routes to destinations over a hop."""
        return [(destination, hop) for destination in destinations]

    def pair(self, server, server_end, server_net, client, client_end, client_net):
        """Add a server and a client, each at a router's interface."""
        self.addHost(server, ip=None, defaultRoute=f"via {server_net}.2")
        self.addHost(client, ip=None, defaultRoute=f"via {client_net}.1")
        self.wire(f"{server}:eth1", f"{server_net}.1/24", server_end, f"{server_net}.2/24")
        self.wire(client_end, f"{client_net}.1/24", f"{client}:eth1", f"{client_net}.2/24")

    def wire(self, end1, address1, end2, address2):
        """Link two `node:interface` ends, each with its address."""
        (node1, dev1), (node2, dev2) = end1.split(":"), end2.split(":")
        names = {"intfName1": dev1, "intfName2": dev2}
        self.addLink(node1, node2, **names, params1={"ip": address1}, params2={"ip": address2})


topos = {"parking-lot": ParkingLot}
