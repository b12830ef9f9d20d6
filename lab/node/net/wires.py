# SPDX-License-Identifier: GPL-2.0-or-later
"""Wires between nodes, by rtnetlink: pairs of veth interfaces, each end in its node's namespace from the beginning."""

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from lab.node.net import namespace
from lab.node.net.netlink import NLA_F_NESTED, NLM_F_CREATE, NLM_F_EXCL, Netlink, attribute

if TYPE_CHECKING:
    from lab.node.plan import Wire

RTM_NEWLINK = 16
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_LINKINFO, IFLA_NET_NS_FD = 1, 3, 4, 18, 28
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFINFOMSG = bytes(16)  # any family, type and number, no flags
End = tuple[str, str]  # node and interface


def connect(wires: "Iterable[Wire]") -> None:
    """Lay every wire; NodeError where the kernel refuses one. The nodes' namespaces have their names."""
    with namespace.apart():  # the kernel refuses a name that this machine's own interfaces have, wherever it is for
        for number, wire in enumerate(wires):
            near, far = ends(wire)
            with Netlink(f"{':'.join(near)} to {':'.join(far)}") as link, _opened(near, far) as (here, there):
                peer = IFINFOMSG + _end(far[1], there, wire["mtu"], number, 1)
                kind = attribute(IFLA_INFO_KIND, b"veth\0") + _nest(IFLA_INFO_DATA, attribute(VETH_INFO_PEER, peer))
                own = _end(near[1], here, wire["mtu"], number, 0)
                link.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, IFINFOMSG + own + _nest(IFLA_LINKINFO, kind))


def ends(wire: "Wire") -> list[End]:
    """Split the two `node:interface` ends of a link."""
    return [(node, dev) for node, dev in (end.split(":") for end in wire["endpoints"])]


def _end(dev: str, space: int, mtu: int, number: int, end: int) -> bytes:
    """Describe one end. Hardware addresses are not drawn: a capture holds them, and is the same each time."""
    return (
        attribute(IFLA_IFNAME, dev.encode() + b"\0")
        + attribute(IFLA_MTU, struct.pack("I", mtu))
        + attribute(IFLA_ADDRESS, bytes([2, 0, 0, *number.to_bytes(2), end]))
        + attribute(IFLA_NET_NS_FD, struct.pack("I", space))
    )


def _nest(kind: int, content: bytes) -> bytes:
    return attribute(kind | NLA_F_NESTED, content)


@contextmanager
def _opened(*both: End) -> Iterator[list[int]]:
    with ExitStack() as stack:
        spaces = [os.open(namespace.NAMES / node, os.O_RDONLY) for node, _ in both]
        for space in spaces:
            stack.callback(os.close, space)
        yield spaces
