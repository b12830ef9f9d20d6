# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP time stamps (RFC 7323) as a clock: seconds, and the step between two values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.tables.packets import unwrap

TICKS_PER_S = (1_000_000, 1000, 250, 100, 10)  # of systems in use: RFC 7323 allows 1 ms to 1 s, Linux also has 1 us
FAST, SLOW = 0.9, 2.4  # a queue that grows makes stamps look slower, by less than these rates differ; hardly faster
LEAST_S = 0.1  # of a capture from which a rate can be seen
TOGETHER = 20  # segments, of which one left its host at once


@dataclass(frozen=True)
class Stamps:
    """Time stamps of one host in seconds, from its first on."""

    t_s: NDArray[np.float64]  # NaN without a stamp
    step_s: float


def seconds_of(
    values: NDArray[np.int64], captured_s: NDArray[np.float64], ticks_per_s: int | None = None
) -> Stamps | None:
    """Return stamps in seconds, of a host whose rate is given or seen; None where they run at no known rate."""
    known = values >= 0
    if known.sum() < 2:
        return None
    ticks = unwrap(values[known], int(values[known][0]))
    span_s, span = float(np.ptp(captured_s[known])), int(np.ptp(ticks))
    if span_s < LEAST_S or span <= 0:
        return None
    seen = span / span_s
    rate = ticks_per_s or min((each for each in TICKS_PER_S if each >= FAST * seen), default=None)
    if rate is None or (ticks_per_s is None and rate > SLOW * seen):
        return None
    t_s = np.full(len(values), np.nan)
    t_s[known] = ticks / rate
    steps = np.diff(np.unique(ticks)[1:])  # without the first, a SYN's, which may be of another clock (SYN cookies)
    return Stamps(t_s, int(np.gcd.reduce(steps if len(steps) else np.diff(np.unique(ticks)))) / rate)


def unsteady_s(values: NDArray[np.int64], captured_s: NDArray[np.float64]) -> float:
    """Return by how much a capture's clock was set, beyond one step of the time stamps of the host it ran on."""
    own = seconds_of(values, captured_s)
    if own is None:
        return 0.0
    apart_s = (captured_s - own.t_s)[~np.isnan(own.t_s)]
    floors_s = np.minimum.reduceat(apart_s, np.arange(0, max(len(apart_s) - TOGETHER + 1, 1), TOGETHER))
    return max(float(np.ptp(floors_s)) - own.step_s, 0.0)
