# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact links whose buffers hold all that SEARCH lets a flow send before it leaves slow start: no loss comes first."""

from lab.schema.profile import Profile

MSS_BYTES = 1448


def deep(rate_mbps: float, rtt_ms: float) -> Profile:
    """A constant link; its buffer holds eight bandwidth-delay products."""
    words = {
        "title": "a deep link for tests",
        "down": {"rate_mbps": rate_mbps, "delay_ms": rtt_ms / 2, "buffer_bdps": 8.0},
        "up": {"delay_ms": rtt_ms / 2},
        "recorded": [],
        "modelled": ["everything"],
    }
    return Profile.model_validate(words)


def bdp_pkts(rate_mbps: float, rtt_ms: float) -> float:
    return rate_mbps * 1e3 * rtt_ms / 8 / MSS_BYTES
