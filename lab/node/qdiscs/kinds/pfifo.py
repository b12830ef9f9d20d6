# SPDX-License-Identifier: GPL-2.0-or-later
"""First in, first out, counted in packets; drops at the tail."""

from lab.node.qdiscs.qdisc_kind import WHOLE_FRAMES, TcKind

KIND = TcKind((WHOLE_FRAMES,), queue="First in, first out, counted in packets; drops at the tail.", built_in=True)
