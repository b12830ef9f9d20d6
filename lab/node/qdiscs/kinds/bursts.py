# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `bursts`: a FIFO whose arrivals are lost in bursts, by the model of Gilbert and Elliott."""

from lab.node.qdiscs.qdisc_kind import Attribute, NetlinkKind, State, buffer_bytes, percent

CHANCE = {"ge": 0.0001, "le": 100}
KIND = NetlinkKind(
    (
        Attribute("limit_bytes", 2, "I", value=buffer_bytes),
        percent("begin", 3, CHANCE),
        percent("end", 4, CHANCE),
        percent("loss", 5, CHANCE, 100.0),
        Attribute("seed", 6, "Q", value=lambda _, at: at.seed),
    ),
    State("I limit_bytes I begin_ppm I end_ppm I loss_ppm Q seed Q bursts Q bad_pkts Q lost_pkts Q overflow_pkts"),
    queue="Loses arrivals in bursts: begin_pct and end_pct are each arrival's chances (Gilbert and Elliott).",
)
