# SPDX-License-Identifier: GPL-2.0-or-later
"""Fair queue: paces each flow as its sender requests; on a sender's host, for a congestion control that paces."""

from lab.node.qdiscs.qdisc_kind import Setting, TcKind

KIND = TcKind((Setting("limit_pkts", "limit"), Setting("flow_limit_pkts", "flow_limit")))
