# SPDX-License-Identifier: GPL-2.0-or-later
"""CoDel: drops by the time that packets spend in the queue."""

from lab.node.qdiscs.qdisc_kind import CODEL_SLACK_US, ECN, TcKind, duration, limit_pkts

LAW = (duration("target", 5.0, CODEL_SLACK_US), duration("interval", 100.0, CODEL_SLACK_US), ECN)
KIND = TcKind(
    (limit_pkts(), *LAW),
    queue="CoDel (RFC 8289): drops by the time that packets spend in the queue.",
    drops_at_head=True,
)
