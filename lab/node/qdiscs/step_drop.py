# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own `step_drop`: a FIFO that drops a share of what arrives while more than a threshold is queued."""

from lab.node.qdiscs.kind import ByNetlink, Spec
from lab.node.qdiscs.words import Settings, State, options

PPM_PER_PCT = 10_000
SETTINGS: Settings = {"limit_bytes": (2, "I"), "threshold_bytes": (3, "I"), "drop_ppm": (4, "I"), "seed": (5, "Q")}
STATE = State("I limit_bytes I threshold_bytes I drop_ppm 4x pad Q seed Q exposed_pkts Q chosen_pkts Q overflow_pkts")


def _options(spec: Spec) -> bytes:
    return options(SETTINGS, spec | {"drop_ppm": round(spec["drop_pct"] * PPM_PER_PCT)})


def _got(data: bytes) -> Spec:
    state = STATE.numbers(data)
    return {
        "limit_bytes": state["limit_bytes"],
        "threshold_bytes": state["threshold_bytes"],
        "drop_pct": state["drop_ppm"] / PPM_PER_PCT,
        "seed": state["seed"],
    }


def _statistics(data: bytes) -> dict[str, int | None]:
    return STATE.counted(data, SETTINGS)


KIND = ByNetlink(_options, _got, _statistics)
