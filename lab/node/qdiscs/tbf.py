# SPDX-License-Identifier: GPL-2.0-or-later
"""Token bucket filter: the bottleneck of a constant rate, with its buffer."""

from typing import Any

from lab.node.qdiscs.kind import ByTc, Spec

TICK_S = 64e-9  # tc keeps the burst as the time it takes (PSCHED_TICKS_PER_SEC)
LATENCY_S = 1e-6  # tc shows it in whole microseconds


def _words(spec: Spec) -> list[str]:
    rate = f"{round(spec['rate_bps'])}bit"
    return ["rate", rate, "burst", str(spec["burst_bytes"]), "limit", str(spec["limit_bytes"])]


def _got(options: dict[str, Any]) -> Spec:
    # limit comes back as the latency it means: limit = rate * lat + burst (tc/q_tbf.c)
    return {
        "rate_bps": options["rate"] * 8,
        "burst_bytes": options["burst"],
        "limit_bytes": options["rate"] * options["lat"] / 1e6 + options["burst"],
    }


def _slack(spec: Spec, name: str) -> float:
    rounded_s = {"burst_bytes": 2 * TICK_S, "limit_bytes": 2 * TICK_S + LATENCY_S}
    return rounded_s[name] * spec["rate_bps"] / 8 + 1 if name in rounded_s else 0.0


KIND = ByTc(_words, _got, slack=_slack)
