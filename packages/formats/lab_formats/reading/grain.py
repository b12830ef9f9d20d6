# SPDX-License-Identifier: GPL-2.0-or-later
"""The step of a capture's or a log's clock, from the times in it."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from lab_formats.reading.packets import Packet

COARSE_S = 0.001  # a step of the clock, from which round trips show it
FEW_TIMES = 0.2  # for each packet: a clock of 15.6 ms (Windows) whose steps are not equal
ROUNDED_HZ = (1e6, 1e9)  # times of floats; steps of 2^-7 s are whole only in the latter
NEAR_STEPS = 50  # within which a gap's number of steps is clear, although the shortest one is rounded
MOST_PARTS = 4  # steps that the shortest gap may be
UNIT_S, LEAST_STEP_S, MOST_ROUNDED_S = 1e-6, 2e-5, 1.1e-6  # of a rounded clock: a gap is off by one unit at most
LEAST_TIMES = 20  # of an interface: the times of fewer may have a common step by chance


def grain_s(captured_s: NDArray[np.float64]) -> float:
    """Return the step of a capture's clock: that of all its times, or of the few times that most packets share."""
    gaps_s = np.diff(captured_s)
    gaps_s = gaps_s[gaps_s > 0]
    if not len(gaps_s):
        return 0.0
    if len(gaps_s) < FEW_TIMES * len(captured_s):
        return float(np.percentile(gaps_s, 5))
    whole_s = max(int(np.gcd.reduce(np.rint(gaps_s * rate).astype(np.int64))) / rate for rate in ROUNDED_HZ)
    return (_before_rounding_s(gaps_s) if whole_s <= UNIT_S else None) or whole_s


def _before_rounding_s(gaps_s: NDArray[np.float64]) -> float | None:
    """Return the step of a clock whose times were rounded to microseconds, of which it is no multiple: 2^-7 s."""
    near_s = gaps_s[gaps_s < NEAR_STEPS * gaps_s.min()]
    for part in range(1, MOST_PARTS + 1):
        step_s = float(gaps_s.min()) / part
        if step_s < LEAST_STEP_S or len(near_s) < LEAST_TIMES:
            return None
        step_s = float(near_s.sum() / np.rint(near_s / step_s).sum())
        if (np.abs(near_s - np.rint(near_s / step_s) * step_s) <= MOST_ROUNDED_S).all():
            return step_s
    return None


def of_interfaces_s(packets: list[Packet]) -> float:
    """Return the coarsest step of the clocks of a capture's interfaces, each of which has its own (pcapng)."""
    times_s: defaultdict[int, list[float]] = defaultdict(list)
    for packet in packets:
        times_s[packet.interface[0]].append(packet.t_s)
    shown = [each for each in times_s.values() if len(each) >= LEAST_TIMES]
    return max(grain_s(np.array(each)) for each in shown or [[packet.t_s for packet in packets]])


def coarse(step_s: float, whose: str) -> list[str]:
    """Return a note on a clock whose steps round trips show."""
    words = f"The {whose}'s clock has steps of {step_s * 1e3:g} ms: each round trip is known to one of them."
    return [words] if step_s >= COARSE_S else []
