# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorder's own slow start: how much of a TCP test's beginning is not the link's doing."""

import numpy as np
from numpy.typing import NDArray

LONGEST_S = 15.0  # GEO reaches capacity after 11.8 s (thesis, table 5.1); nothing ramps longer
SHARE = 0.8  # of the usual rate: an interval that reaches it holds no more than the end of the last doubling
RULE = (
    f"until the first interval that reaches {SHARE:.0%} of the median of the test's second half, at most half of the "
    f"test and {LONGEST_S:g} s"
)


def ramp_intervals(rates_mbps: NDArray[np.float64], ends_s: NDArray[np.float64]) -> int:
    """Return how many leading intervals of a test are its sender's ramp; `ends_s` count from the test's begin."""
    half = len(rates_mbps) // 2
    if half == 0:
        return 0
    reached = np.flatnonzero(rates_mbps >= SHARE * np.median(rates_mbps[half:]))
    most = min(half, int(np.searchsorted(ends_s, LONGEST_S, side="right")))
    return min(int(reached[0]), most)
