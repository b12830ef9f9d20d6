# SPDX-License-Identifier: GPL-2.0-or-later
"""First in, first out, counted in bytes; drops at the tail."""

from lab.node.qdiscs.qdisc_kind import Setting, TcKind, buffer_bytes

KIND = TcKind(
    (Setting("limit_bytes", "limit", value=buffer_bytes),),
    queue="First in, first out; drops at the tail when the buffer is full.",
    built_in=True,
)
