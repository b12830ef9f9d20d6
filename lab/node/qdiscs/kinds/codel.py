# SPDX-License-Identifier: GPL-2.0-or-later
"""CoDel: drops by the time that packets spend in the queue."""

from lab.node.qdiscs.qdisc_kind import CODEL_SLACK_US, ECN, WHOLE_FRAMES, TcKind, duration

LAW = (duration("target", 5.0, CODEL_SLACK_US), duration("interval", 100.0, CODEL_SLACK_US), ECN)
KIND = TcKind(
    (WHOLE_FRAMES, *LAW),
    queue="CoDel (RFC 8289): drops by the time that packets spend in the queue.",
    drops_at_head=True,
)
