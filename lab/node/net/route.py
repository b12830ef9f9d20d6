# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices, addresses and routes of the namespace that this thread is in, by rtnetlink: a process takes time."""

import re
import socket
import struct

from lab.node.net.namespace import entered
from lab.node.net.netlink import NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, Netlink, attribute, attributes
from lab.node.system.tools import NodeError

RTM_NEWLINK, RTM_NEWADDR, RTM_NEWROUTE, RTM_GETROUTE = 16, 20, 24, 26
IFF_UP, IFLA_IFNAME = 1, 3
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_METRICS = 1, 4, 5, 6, 8
NEW = NLM_F_CREATE | NLM_F_EXCL
WHERE = (RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY)
METRICS = {"mtu": 2, "initcwnd": 11, "initrwnd": 14}  # RTAX_*
RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST = 254, 3, 0, 1  # as ip states them
IFINFOMSG = struct.Struct("BxHiII")  # family, type, ifindex, flags, and those of them that change
IFADDRMSG = struct.Struct("BBBBI")  # family, prefix, flags, scope, ifindex
RTMSG = struct.Struct("BBBBBBBBI")  # family, prefixes of both ends, tos, table, protocol, scope, type, flags
ADDRESS = re.compile(r"ip address add ([\d.]+)/(\d+) dev (\w+)")
ROUTE = re.compile(r"ip route add (default|([\d.]+)/(\d+)) via ([\d.]+)")
Settings = dict[str, str]


def is_known(line: str) -> bool:
    """Return whether a line of ip adds an address or a route."""
    return bool(ADDRESS.fullmatch(line) or ROUTE.fullmatch(line))


def bring_up(link: Netlink, dev: str) -> None:
    """Set a device up."""
    head = IFINFOMSG.pack(socket.AF_UNSPEC, 0, 0, IFF_UP, IFF_UP)
    link.request(RTM_NEWLINK, 0, head + attribute(IFLA_IFNAME, dev.encode() + b"\0"))


def executed(link: Netlink, line: str) -> bool:
    """Execute a line of ip; False where it is another one, or the kernel refuses it: ip itself then reports it."""
    try:
        if found := ADDRESS.fullmatch(line):
            _add_address(link, found[1], int(found[2]), found[3])
        elif found := ROUTE.fullmatch(line):
            _add_route(link, found[2] or "0.0.0.0", int(found[3] or 0), found[4])
    except (NodeError, OSError, struct.error):
        return False
    return bool(found)


def pin(node: str, settings: Settings) -> None:
    """Write metrics of a node's routes via a router, and refuse what did not take: one of them carries the download."""
    wanted = {METRICS[name]: struct.pack("I", int(value)) for name, value in settings.items()}
    metrics = attribute(RTA_METRICS, b"".join(attribute(*each) for each in wanted.items()))
    with entered(node), Netlink(f"{node}: routes") as link:
        for prefix, route in _routes(link, node):
            where = b"".join(attribute(number, route[number]) for number in WHERE if number in route)
            link.request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, _route(prefix) + where + metrics)
        for _, route in _routes(link, node):
            if (taken := attributes(route.get(RTA_METRICS, b""))) != wanted:
                known = {name: struct.unpack("I", taken[each])[0] for name, each in METRICS.items() if each in taken}
                raise NodeError(f"{node}: metrics of a route={known}: must be {settings}")


def _routes(link: Netlink, node: str) -> list[tuple[int, dict[int, bytes]]]:
    """Return prefix and attributes of the routes via a router, as the kernel has them."""
    shown = [(RTMSG.unpack_from(each), attributes(each[RTMSG.size :])) for each in link.request(*_ALL_ROUTES)]
    routes = [(head[1], route) for head, route in shown if head[4] == RT_TABLE_MAIN and RTA_GATEWAY in route]
    if [prefix for prefix, _ in routes].count(0) != 1:
        raise NodeError(f"{node}: default route: must be one, via a router: ip route add default via ADDRESS")
    return routes


def _add_address(link: Netlink, address: str, prefix: int, dev: str) -> None:
    own = socket.inet_aton(address)
    head = IFADDRMSG.pack(socket.AF_INET, prefix, 0, RT_SCOPE_UNIVERSE, socket.if_nametoindex(dev))
    link.request(RTM_NEWADDR, NEW, head + attribute(IFA_LOCAL, own) + attribute(IFA_ADDRESS, own))


def _add_route(link: Netlink, target: str, prefix: int, gateway: str) -> None:
    there = attribute(RTA_DST, socket.inet_aton(target)) if prefix else b""
    link.request(RTM_NEWROUTE, NEW, _route(prefix) + there + attribute(RTA_GATEWAY, socket.inet_aton(gateway)))


def _route(prefix: int) -> bytes:
    return RTMSG.pack(socket.AF_INET, prefix, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST, 0)


_ALL_ROUTES = (RTM_GETROUTE, NLM_F_DUMP, RTMSG.pack(socket.AF_INET, *[0] * 8))
