# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `policer`: a FIFO that drops what arrives above the rate of a token bucket."""

from lab.node.qdiscs.qdisc_kind import Attribute, Field, NetlinkKind, Rule, State, buffer_bytes

MOST_BURST_BYTES = 10**9
KIND = NetlinkKind(
    (
        Attribute("limit_bytes", 2, "I", value=buffer_bytes),
        Attribute("burst_bytes", 3, "I", field=Field("burst_bytes", int, None, {"ge": 1514, "le": MOST_BURST_BYTES})),
        Attribute(
            "rate_bps",
            4,
            "Q",
            field=Field("rate_mbps", float, None, {"ge": 0.001, "le": 10_000}),
            value=lambda values, _: round(values["rate_mbps"] * 1e6),
        ),
    ),
    State("I limit_bytes I burst_bytes Q rate_bps Q policed_pkts Q overflow_pkts"),
    queue="Drops what arrives above the rate of a token bucket, and lets nothing wait for it.",
    buffer_rules=(
        Rule(
            "one whose burst_bytes hold the largest frame",
            lambda values: values["burst_bytes"] >= values["frame_bytes"],
        ),
    ),
)
