# SPDX-License-Identifier: GPL-2.0-or-later
"""First in, first out, counted in bytes; drops at the tail."""

from lab.node.qdiscs.qdisc_kind import Attribute, NetlinkKind, buffer_bytes

KIND = NetlinkKind(
    (Attribute("limit_bytes", 0, "I", value=buffer_bytes),),
    queue="First in, first out; drops at the tail when the buffer is full.",
    built_in=True,
)
