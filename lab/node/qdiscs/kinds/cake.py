# SPDX-License-Identifier: GPL-2.0-or-later
"""CAKE without its own shaper and without its filter of acknowledgements: its parent sets the link's rate."""

from lab.node.qdiscs.qdisc_kind import HOLDS_A_FRAME, Setting, TcKind, buffer_bytes, constant, duration

KIND = TcKind(
    (
        Setting("flowmode", "flowmode", value=constant("triple-isolate"), format=lambda mode: [mode]),
        duration("rtt", 100.0),
        Setting("memlimit_bytes", "memlimit", value=buffer_bytes),
    ),
    queue="CAKE without its shaper: the bottleneck has its own.",
    switches=("unlimited", "besteffort", "nowash", "no-ack-filter", "no-split-gso", "raw"),
    buffer_rules=(HOLDS_A_FRAME,),
    drops_at_head=True,
)
