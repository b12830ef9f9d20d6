# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `replay`: a link that carries what a recorded link carried."""

import struct

from lab.node import series
from lab.node.qdiscs.kind import ByNetlink, Followed, Spec
from lab.node.qdiscs.words import BEHIND_SERIES, SERIES_STATE, Settings, State, options

MODES = {"rate": 0, "opportunities": 1}
SETTINGS: Settings = {
    "mode": (BEHIND_SERIES, "I"),
    "limit_bytes": (BEHIND_SERIES + 1, "I"),
    "overhead_bytes": (BEHIND_SERIES + 2, "i"),
    "start_bps": (BEHIND_SERIES + 3, "Q"),
}
STATE = State("I mode I limit_bytes i overhead_bytes 4x pad Q start_bps Q capacity_bytes Q rate_bps" + SERIES_STATE)


def _options(spec: Spec) -> bytes:
    return options(SETTINGS, spec | {"mode": MODES[spec["mode"]], "start_bps": round(spec["start_bps"])})


def _got(data: bytes) -> Spec:
    state = STATE.numbers(data)
    mode = next(name for name, number in MODES.items() if number == state["mode"])
    return {name: state[name] for name in SETTINGS} | {"mode": mode}


def _statistics(data: bytes) -> dict[str, int | None]:
    return STATE.counted(data, SETTINGS)


KIND = ByNetlink(_options, _got, _statistics, Followed(struct.Struct("=QQ"), series.capacity))
