# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `disturb`: a FIFO that reorders and duplicates packets, each at a stated number."""

from lab.node.qdiscs.qdisc_kind import PACKETS, Attribute, Field, NetlinkKind, Rule, State, buffer_bytes

EVERY = {"ge": 0, "lt": 2**31}
KIND = NetlinkKind(
    (
        Attribute("limit_bytes", 2, "I", value=buffer_bytes),
        Attribute("hold_every_pkts", 3, "I", field=Field("hold_every_pkts", int, 0, EVERY)),
        Attribute("hold_pkts", 4, "I", field=Field("hold_pkts", int, 1, PACKETS)),
        Attribute("copy_every_pkts", 5, "I", field=Field("copy_every_pkts", int, 0, EVERY)),
    ),
    State(
        "I limit_bytes I hold_every_pkts I hold_pkts I copy_every_pkts "
        "Q arrived_pkts Q held_pkts Q copied_pkts Q overflow_pkts"
    ),
    queue="Holds every so many packets back until some later ones are queued, and queues every so many twice.",
    rules=(
        Rule(
            "a queue that holds or copies packets: hold_every_pkts or copy_every_pkts above 0",
            lambda values: values["hold_every_pkts"] > 0 or values["copy_every_pkts"] > 0,
        ),
    ),
    buffer_rules=(
        Rule(
            "one with a buffer of two frames where it holds packets: a held one takes the place of one",
            lambda values: not values["hold_every_pkts"] or values["buffer_bytes"] >= 2 * values["frame_bytes"],
        ),
    ),
)
