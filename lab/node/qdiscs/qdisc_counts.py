# SPDX-License-Identifier: GPL-2.0-or-later
"""What any qdisc counts, read by netlink: a process of tc for each reading takes time, and would make a change late."""

import socket
import struct
from typing import NamedTuple

from lab.node.net.netlink import (
    NLM_F_DUMP,
    NLM_F_ECHO,
    RTM_GETQDISC,
    TC_H_ROOT,
    TCA_STATS2,
    TCMSG,
    Netlink,
    Qdiscs,
    attributes,
)

TCA_STATS_BASIC, TCA_STATS_QUEUE = 1, 3  # include/uapi/linux/gen_stats.h
BASIC = struct.Struct("=QI")  # bytes and packets that were sent
QUEUE = struct.Struct("=III")  # packets and bytes that wait, packets dropped


class Counted(NamedTuple):
    """Packets of a qdisc since it exists."""

    sent_pkts: int
    waiting_pkts: int
    dropped_pkts: int

    @property
    def arrived_pkts(self) -> int:
        """Return how many came to it."""
        return self.sent_pkts + self.waiting_pkts + self.dropped_pkts


class CountedQdiscs(Qdiscs):
    """The qdiscs of one interface of a node, with their counters."""

    def counts(self, parent: int = TC_H_ROOT) -> Counted:
        """Read the counters of a qdisc."""
        return _counted(self._ask(RTM_GETQDISC, NLM_F_ECHO, parent, 0, b""))


def roots() -> dict[str, Counted]:
    """Read the counters of the root qdisc of each interface, by name, in the namespace that this thread is in."""
    found = {}
    with Netlink("qdiscs") as link:
        for shown in link.request(RTM_GETQDISC, NLM_F_DUMP, TCMSG.pack(socket.AF_UNSPEC, 0, 0, 0, 0)):
            _, ifindex, _, parent, _ = TCMSG.unpack_from(shown)
            if parent == TC_H_ROOT:
                found[socket.if_indextoname(ifindex)] = _counted(shown[TCMSG.size :])
    return found


def _counted(shown: bytes) -> Counted:
    found = attributes(attributes(shown)[TCA_STATS2])
    _, sent_pkts = BASIC.unpack_from(found[TCA_STATS_BASIC])
    waiting_pkts, _, dropped_pkts = QUEUE.unpack_from(found[TCA_STATS_QUEUE])
    return Counted(sent_pkts, waiting_pkts, dropped_pkts)
