# SPDX-License-Identifier: GPL-2.0-or-later
"""CoDel on a queue per flow."""

from lab.node.qdiscs.kinds.codel import LAW
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES, PACKETS, Field, Setting, TcKind, buffer_bytes, constant

KIND = TcKind(
    (
        Setting("limit_pkts", "limit", field=Field("limit_pkts", int, 10_000, PACKETS)),
        *LAW,
        Setting("flows", "flows", field=Field("flows", int, 1024, {"ge": 1, "le": 65_536})),
        Setting("quantum_bytes", "quantum", value=constant(FRAME_BYTES)),
        Setting("memory_limit_bytes", "memory_limit", value=buffer_bytes),  # of all queues together
        Setting("drop_batch_pkts", "drop_batch", value=constant(64)),
    ),
    queue="CoDel on a queue per flow (RFC 8290).",
    drops_at_head=True,
)
