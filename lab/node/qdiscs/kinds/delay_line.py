# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `delay_line`: a path whose delay and random loss follow a recorded series."""

import struct

from lab.node.qdiscs import series
from lab.node.qdiscs.qdisc_kind import Attribute, Followed, NetlinkKind, State
from lab.node.qdiscs.qdisc_uapi import BEHIND_SERIES, SERIES_STATE

KIND = NetlinkKind(
    (
        Attribute("limit_pkts", BEHIND_SERIES, "I"),
        Attribute("delay_us", BEHIND_SERIES + 1, "I"),
        Attribute(
            "loss_pct",
            BEHIND_SERIES + 2,
            "I",
            "loss",
            encode=series.share,
            decode=lambda loss: 100 * loss / series.WHOLE,
        ),
        Attribute("frame_us", BEHIND_SERIES + 3, "I"),
        Attribute("frame_pkts", BEHIND_SERIES + 4, "I"),
        Attribute("late_us", BEHIND_SERIES + 5, "I"),
        Attribute("seed", BEHIND_SERIES + 6, "Q"),
    ),
    State(
        "I limit_pkts I delay_us I loss I frame_us I frame_pkts I late_us Q seed "
        "Q loss_sum Q lost_pkts Q overflow_pkts Q sent_pkts Q late_pkts Q latest_ns" + SERIES_STATE
    ),
    followed=Followed(struct.Struct("=QII"), series.delay),
)
