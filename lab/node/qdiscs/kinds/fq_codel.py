# SPDX-License-Identifier: GPL-2.0-or-later
"""CoDel on a queue per flow."""

from lab.node.qdiscs.kinds.codel import CLOCK_S, LAW
from lab.node.qdiscs.qdisc_kind import (
    HOLDS_A_FRAME,
    PACKETS,
    Field,
    Rule,
    Setting,
    TcKind,
    buffer_bytes,
    constant,
    wire_bytes,
)

MOST_MEMORY_BYTES = 2**31  # the kernel's
KIND = TcKind(
    (
        Setting("limit_pkts", "limit", field=Field("limit_pkts", int, 10_000, PACKETS)),
        *LAW,
        Setting("flows", "flows", field=Field("flows", int, 1024, {"ge": 1, "le": 65_536})),
        Setting("quantum_bytes", "quantum", value=lambda _, at: wire_bytes(at.frame_bytes)),
        Setting("memory_limit_bytes", "memory_limit", value=buffer_bytes),  # of all queues together
        Setting("drop_batch_pkts", "drop_batch", value=constant(64)),
    ),
    queue="CoDel on a queue per flow (RFC 8290).",
    buffer_rules=(
        HOLDS_A_FRAME,
        Rule(
            f"one with a buffer of at most {MOST_MEMORY_BYTES} bytes",
            lambda values: values["buffer_bytes"] <= MOST_MEMORY_BYTES,
        ),
    ),
    drops_at_head=True,
    clock_s=CLOCK_S,
)
