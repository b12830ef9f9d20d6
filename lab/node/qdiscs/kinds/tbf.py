# SPDX-License-Identifier: GPL-2.0-or-later
"""Token bucket filter: the bottleneck of a constant rate, with its buffer."""

from lab.node.qdiscs.qdisc_kind import Options, Setting, Spec, TcKind

TICK_S = 64e-9  # tc keeps the burst as the time it takes (PSCHED_TICKS_PER_SEC)
LATENCY_S = 1e-6  # tc shows it in whole microseconds


def _slack_of(rounded_s: float, spec: Spec) -> float:
    return float(rounded_s * spec["rate_bps"] / 8 + 1)


def _limit_bytes(options: Options) -> float:
    """Return the limit from the latency that tc shows instead: limit = rate * lat + burst (tc/q_tbf.c)."""
    return float(options["rate"] * options["lat"] / 1e6 + options["burst"])


KIND = TcKind(
    (
        Setting("rate_bps", "rate", scale=8, format=lambda bps: ["rate", f"{round(bps)}bit"]),
        Setting("burst_bytes", "burst", slack=lambda spec: _slack_of(2 * TICK_S, spec)),
        Setting("limit_bytes", "limit", read=_limit_bytes, slack=lambda spec: _slack_of(2 * TICK_S + LATENCY_S, spec)),
    )
)
