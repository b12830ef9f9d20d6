# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `delay_line`: a path whose delay and random loss follow a recorded series."""

import struct

from lab.node import series
from lab.node.qdiscs.kind import ByNetlink, Followed, Spec
from lab.node.qdiscs.words import BEHIND_SERIES, SERIES_STATE, Settings, State, options

SETTINGS: Settings = {
    "limit_pkts": (BEHIND_SERIES, "I"),
    "delay_us": (BEHIND_SERIES + 1, "I"),
    "loss": (BEHIND_SERIES + 2, "I"),
    "frame_us": (BEHIND_SERIES + 3, "I"),
    "frame_pkts": (BEHIND_SERIES + 4, "I"),
    "late_us": (BEHIND_SERIES + 5, "I"),
    "seed": (BEHIND_SERIES + 6, "Q"),
}
STATE = State(
    "I limit_pkts I delay_us I loss I frame_us I frame_pkts I late_us Q seed "
    "Q loss_sum Q lost_pkts Q overflow_pkts Q sent_pkts Q late_pkts Q latest_ns" + SERIES_STATE
)


def _options(spec: Spec) -> bytes:
    return options(SETTINGS, spec | {"loss": series.share(spec["loss_pct"])})


def _got(data: bytes) -> Spec:
    state = STATE.numbers(data)
    kept = {name: state[name] for name in SETTINGS if name != "loss"}
    return kept | {"loss_pct": 100 * state["loss"] / series.WHOLE}


def _statistics(data: bytes) -> dict[str, int | None]:
    return STATE.counted(data, SETTINGS)


KIND = ByNetlink(_options, _got, _statistics, Followed(struct.Struct("=QII"), series.delay))
