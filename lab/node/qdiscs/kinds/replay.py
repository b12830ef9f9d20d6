# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `replay`: a link that carries what a recorded link carried."""

import struct

from lab.node.qdiscs import series
from lab.node.qdiscs.qdisc_kind import Attribute, Followed, NetlinkKind, State
from lab.node.qdiscs.qdisc_uapi import BEHIND_SERIES, SERIES_STATE

MODES = ("rate", "opportunities")  # enum replay_mode
KIND = NetlinkKind(
    (
        Attribute("mode", BEHIND_SERIES, "I", encode=MODES.index, decode=MODES.__getitem__),
        Attribute("limit_bytes", BEHIND_SERIES + 1, "I"),
        Attribute("overhead_bytes", BEHIND_SERIES + 2, "i"),
        Attribute("start_bps", BEHIND_SERIES + 3, "Q", encode=round),
    ),
    State("I mode I limit_bytes i overhead_bytes 4x pad Q start_bps Q capacity_bytes Q rate_bps" + SERIES_STATE),
    followed=Followed(struct.Struct("=QQ"), series.capacity),
)
