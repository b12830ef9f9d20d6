# SPDX-License-Identifier: GPL-2.0-or-later
"""Fair queue: paces each flow as its sender requests; on a sender's host, for a congestion control that paces."""

from lab.node.qdiscs.qdisc_kind import Attribute, NetlinkKind

KIND = NetlinkKind((Attribute("limit_pkts", 1, "I"), Attribute("flow_limit_pkts", 2, "I")))  # TCA_FQ_*
