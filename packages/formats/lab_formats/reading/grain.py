# SPDX-License-Identifier: GPL-2.0-or-later
"""The step of a capture's clock, from the times of its packets."""

import numpy as np
from numpy.typing import NDArray

FEW_TIMES = 0.2  # for each packet: a clock of 15.6 ms (Windows) whose steps are not equal


def grain_s(captured_s: NDArray[np.float64]) -> float:
    """Return the step of a capture's clock: that of all its times, or of the few times that most packets share."""
    gaps_s = np.diff(captured_s)
    gaps_s = gaps_s[gaps_s > 0]
    if not len(gaps_s):
        return 0.0
    if len(gaps_s) < FEW_TIMES * len(captured_s):
        return float(np.percentile(gaps_s, 5))
    return int(np.gcd.reduce(np.rint(gaps_s * 1e6).astype(np.int64))) / 1e6
