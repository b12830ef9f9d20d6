# SPDX-License-Identifier: GPL-2.0-or-later
"""What any qdisc counts, read by netlink: a process of tc for each reading would make a change late."""

import struct
from typing import NamedTuple

from lab.node.netlink import NLM_F_ECHO, RTM_GETQDISC, TC_H_ROOT, TCA_STATS2, Qdiscs, attributes

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

    def __enter__(self) -> "CountedQdiscs":
        return self

    def counts(self, parent: int = TC_H_ROOT) -> Counted:
        """Read the counters of a qdisc."""
        shown = attributes(self._ask(RTM_GETQDISC, NLM_F_ECHO, parent, 0, b""))
        found = attributes(shown[TCA_STATS2])
        _, sent_pkts = BASIC.unpack_from(found[TCA_STATS_BASIC])
        waiting_pkts, _, dropped_pkts = QUEUE.unpack_from(found[TCA_STATS_QUEUE])
        return Counted(sent_pkts, waiting_pkts, dropped_pkts)
