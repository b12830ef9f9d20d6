# SPDX-License-Identifier: GPL-2.0-or-later
"""The step of a capture's or a log's clock, from the times in it."""

import numpy as np
from numpy.typing import NDArray

COARSE_S = 0.001  # a step of the clock, from which round trips show it
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


def coarse(times_s: NDArray[np.float64], whose: str) -> list[str]:
    """Return a note on a clock whose steps round trips show."""
    step_s = grain_s(times_s)
    words = f"The {whose}'s clock has steps of {step_s * 1e3:g} ms: each round trip is known to one of them."
    return [words] if step_s >= COARSE_S else []
