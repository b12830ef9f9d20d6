# SPDX-License-Identifier: GPL-2.0-or-later
"""Log-normal values: positive, and as wide as published spreads of rates are."""

import math

import numpy as np


def sample(rng: np.random.Generator, mean: float, ln_sd: float) -> float:
    """Draw a value of this mean, whose logarithm has this standard deviation."""
    return math.exp(rng.normal(math.log(mean) - ln_sd**2 / 2, ln_sd))


def ln_sd_of(mean: float, sd: float) -> float:
    """Return the standard deviation of the logarithm of a value with this mean and standard deviation."""
    return math.sqrt(math.log1p((sd / mean) ** 2))


def share_within(mean: float, ln_sd: float, least: float, most: float) -> float:
    """Return the probability of a value from `least` to `most`."""
    if not ln_sd:
        return float(least <= mean <= most)
    return _share_below(mean, ln_sd, most) - _share_below(mean, ln_sd, least)


def clipped_mean(mean: float, ln_sd: float, least: float, most: float) -> float:
    """Return the mean of values that take the bound's value where they lie outside `least` and `most`."""
    if not ln_sd:
        return min(max(mean, least), most)
    # Weighted by its value, a log-normal variable is a log-normal one whose logarithm has a mean higher by ln_sd^2.
    shifted = mean * math.exp(ln_sd**2)
    between = mean * (_share_below(shifted, ln_sd, most) - _share_below(shifted, ln_sd, least))
    above = 1 - _share_below(mean, ln_sd, most)
    return least * _share_below(mean, ln_sd, least) + between + (most * above if above else 0.0)


def _share_below(mean: float, ln_sd: float, bound: float) -> float:
    if not bound or math.isinf(bound):
        return float(bool(bound))
    deviations = (math.log(bound / mean) + ln_sd**2 / 2) / ln_sd
    return (1 + math.erf(deviations / math.sqrt(2))) / 2
