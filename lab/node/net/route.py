# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses and routes of the namespace that this thread is in, by rtnetlink: a process of ip would take time."""

import re
import socket
import struct

from lab.node.net.namespace import entered
from lab.node.net.netlink import NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, Netlink, attribute, attributes
from lab.node.system.tools import NodeError

RTM_NEWADDR, RTM_NEWROUTE, RTM_GETROUTE = 20, 24, 26
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_METRICS = 1, 4, 5, 8
METRICS = {"mtu": 2, "initcwnd": 11, "initrwnd": 14}  # RTAX_*
RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST = 254, 3, 0, 1  # as ip states them
IFADDRMSG = struct.Struct("BBBBI")  # family, prefix, flags, scope, ifindex
RTMSG = struct.Struct("BBBBBBBBI")  # family, prefixes of both ends, tos, table, protocol, scope, type, flags
ADDRESS = re.compile(r"ip address add ([\d.]+)/(\d+) dev (\w+)")
ROUTE = re.compile(r"ip route add (default|([\d.]+)/(\d+)) via ([\d.]+)")
Settings = dict[str, str]


def is_known(line: str) -> bool:
    """Return whether a line of ip adds an address or a route."""
    return bool(ADDRESS.fullmatch(line) or ROUTE.fullmatch(line))


def executed(line: str) -> bool:
    """Execute a line of ip; False where it is another one, or the kernel refuses it: ip itself then reports it."""
    try:
        if found := ADDRESS.fullmatch(line):
            _add_address(found[1], int(found[2]), found[3])
        elif found := ROUTE.fullmatch(line):
            _add_route(found[2] or "0.0.0.0", int(found[3] or 0), found[4])
    except (NodeError, OSError, struct.error):
        return False
    return bool(found)


def pin(node: str, settings: Settings) -> None:
    """Write metrics of a node's default route, and refuse what did not take."""
    with entered(node), Netlink(f"{node}: default route") as link:
        gateway, dev = _default(link, node)[:2]
        values = b"".join(attribute(METRICS[name], struct.pack("I", int(value))) for name, value in settings.items())
        there = [attribute(RTA_GATEWAY, gateway), attribute(RTA_OIF, dev), attribute(RTA_METRICS, values)]
        link.request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, _route(0) + b"".join(there))
        metrics = _default(link, node)[2]
    if metrics != {name: int(value) for name, value in settings.items()}:
        raise NodeError(f"{node}: default route={metrics}: must be {settings}")


def _default(link: Netlink, node: str) -> tuple[bytes, bytes, dict[str, int]]:
    """Return gateway, interface and metrics of the default route, the first two as the kernel has them."""
    shown = [(RTMSG.unpack_from(each), attributes(each[RTMSG.size :])) for each in link.request(*_ALL_ROUTES)]
    routes = [(head[1], route) for head, route in shown if head[4] == RT_TABLE_MAIN and RTA_GATEWAY in route]
    if [prefix for prefix, _ in routes] != [0]:  # another one would carry the download without what is pinned
        raise NodeError(f"{node}: default route: must be one, via a router, and the only route via one")
    found = routes[0][1]
    values = attributes(found.get(RTA_METRICS, b""))
    names = {number: name for name, number in METRICS.items()}
    metrics = {names.get(number, str(number)): int(struct.unpack("I", value)[0]) for number, value in values.items()}
    return found[RTA_GATEWAY], found[RTA_OIF], metrics


def _add_address(address: str, prefix: int, dev: str) -> None:
    own = socket.inet_aton(address)
    head = IFADDRMSG.pack(socket.AF_INET, prefix, 0, RT_SCOPE_UNIVERSE, socket.if_nametoindex(dev))
    _request(RTM_NEWADDR, head + attribute(IFA_LOCAL, own) + attribute(IFA_ADDRESS, own))


def _add_route(target: str, prefix: int, gateway: str) -> None:
    there = attribute(RTA_DST, socket.inet_aton(target)) if prefix else b""
    _request(RTM_NEWROUTE, _route(prefix) + there + attribute(RTA_GATEWAY, socket.inet_aton(gateway)))


def _request(kind: int, body: bytes) -> None:
    with Netlink("ip") as link:
        link.request(kind, NLM_F_CREATE | NLM_F_EXCL, body)


def _route(prefix: int) -> bytes:
    return RTMSG.pack(socket.AF_INET, prefix, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST, 0)


_ALL_ROUTES = (RTM_GETROUTE, NLM_F_DUMP, RTMSG.pack(socket.AF_INET, *[0] * 8))
