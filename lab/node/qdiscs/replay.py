# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `replay`: a link that carries what a recorded link carried. lab/node/replay.py feeds it."""

import struct
from collections.abc import Sequence

from lab.node.netlink import attribute
from lab.node.qdiscs.kind import ByNetlink, Spec
from lab.node.qdiscs.words import NOT_TOLD, Settings, State, options

MODES = {"rate": 0, "opportunities": 1}
SETTINGS: Settings = {"mode": (2, "I"), "limit_bytes": (3, "I"), "overhead_bytes": (4, "i"), "start_bps": (5, "Q")}
START_NS, STEPS, END_NS = 6, 7, 8
STATE = State(
    "I mode I limit_bytes i overhead_bytes I held_steps I room_steps I underruns Q start_bps Q start_ns Q end_ns "
    "Q consumed_steps Q past_end_ns Q capacity_bytes Q rate_bps"
)


def _options(spec: Spec) -> bytes:
    return options(SETTINGS, spec | {"mode": MODES[spec["mode"]], "start_bps": round(spec["start_bps"])})


def _got(data: bytes) -> Spec:
    state = STATE.numbers(data)
    mode = next(name for name, number in MODES.items() if number == state["mode"])
    return {name: state[name] for name in SETTINGS} | {"mode": mode}


def _statistics(data: bytes) -> dict[str, int | None]:
    return {
        name: None if value == NOT_TOLD else value
        for name, value in STATE.numbers(data).items()
        if name not in SETTINGS
    }


def chunk(steps: Sequence[tuple[int, int]], start_ns: int | None = None, end_ns: int | None = None) -> bytes:
    """Word more of a series: steps of (ns since the start, value), its start when it is told, its end when it is."""
    told = attribute(STEPS, b"".join(struct.pack("=QQ", *step) for step in steps)) if steps else b""
    for number, value in ((START_NS, start_ns), (END_NS, end_ns)):
        told += attribute(number, struct.pack("=Q", value)) if value is not None else b""
    return told


KIND = ByNetlink(_options, _got, _statistics)
