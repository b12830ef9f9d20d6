# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `on_demand`: a return link that grants capacity after a request."""

from lab.node.qdiscs.qdisc_kind import Attribute, NetlinkKind, State

REPORTS = ("backlog", "new", "rate")  # enum on_demand_report
KIND = NetlinkKind(
    (
        Attribute("frame_us", 2, "I"),
        Attribute("phase_us", 3, "I"),
        Attribute("guaranteed_pkts", 4, "I"),
        Attribute("request_delay_us", 5, "I"),
        Attribute("cap_bytes", 6, "I"),
        Attribute("report", 7, "I", encode=REPORTS.index, decode=REPORTS.__getitem__),
        Attribute("limit_bytes", 8, "I"),
        Attribute("period_us", 9, "I"),  # between reports of a rate; 0 for the others
    ),
    State(
        "I frame_us I phase_us I guaranteed_pkts I request_delay_us I cap_bytes I report I limit_bytes I period_us "
        "Q frames Q requested_bytes Q granted_bytes Q lapsed_bytes Q guaranteed_sent_pkts"
    ),
    origin=10,
)
