# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `step_drop`: a FIFO that drops a share of what arrives while more than a threshold is queued."""

from lab.node.qdiscs.qdisc_kind import (
    SHARE,
    Attribute,
    Field,
    NetlinkKind,
    State,
    buffer_bytes,
    percent,
    share_of_buffer,
)

KIND = NetlinkKind(
    (
        Attribute("limit_bytes", 2, "I", value=buffer_bytes),
        Attribute(
            "threshold_bytes",
            3,
            "I",
            field=Field("threshold_share", float, None, SHARE),
            value=share_of_buffer("threshold_share"),
        ),
        percent("drop", 4, {"ge": 0, "le": 100}),
        Attribute("seed", 5, "Q", value=lambda _, at: at.seed),
    ),
    State("I limit_bytes I threshold_bytes I drop_ppm 4x pad Q seed Q exposed_pkts Q chosen_pkts Q overflow_pkts"),
    queue="Drops a share of arrivals at random while more than a share of the buffer is full (a Viasat gateway).",
)
