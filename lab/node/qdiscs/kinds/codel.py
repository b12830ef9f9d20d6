# SPDX-License-Identifier: GPL-2.0-or-later
"""CoDel: drops by the time that packets spend in the queue."""

from lab.node.qdiscs.qdisc_kind import CODEL_SLACK_US, ECN, WHOLE_FRAMES, TcKind, duration

LAW = (duration("target", 5.0, CODEL_SLACK_US), duration("interval", 100.0, CODEL_SLACK_US), ECN)
# Its clock has 32 bits, in units of 1.024 us. Past half of their range it takes 0, the next drop before there was any,
# for a time to come, and drops other packets.
CLOCK_S = 2**31 * 1.024e-6
KIND = TcKind(
    (WHOLE_FRAMES, *LAW),
    queue="CoDel (RFC 8289): drops by the time that packets spend in the queue.",
    drops_at_head=True,
    clock_s=CLOCK_S,
)
