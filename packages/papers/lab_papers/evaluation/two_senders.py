# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of two senders against each other: over pairs on the same links, and over all values."""

import scipy  # loads scipy.stats at its first use

from lab.base.stats import Values, differences

FEWEST_PAIRS = 6  # of five pairs that all agree, the two-sided p is still above 0.05


def signed_rank(first: Values, second: Values) -> float | None:
    """Wilcoxon's p value, zeros split by Pratt's method; none of fewer than 6 pairs, which can prove nothing.

    Of 6 to 13 pairs with equal differences it counts permutations, which takes a second.
    """
    found = differences(first, second)
    if len(found) < FEWEST_PAIRS:
        return None
    return 1.0 if not found.any() else float(scipy.stats.wilcoxon(found, zero_method="pratt").pvalue)


def cliffs_delta(first: Values, second: Values) -> float | None:
    """How often a value of the first exceeds one of the second, less how often it is below: -1 to 1."""
    a, b = ([value for value in values if value is not None] for values in (first, second))
    if not a or not b:
        return None
    larger = scipy.stats.mannwhitneyu(a, b, method="asymptotic").statistic  # ties count half
    return float(2 * larger / (len(a) * len(b)) - 1)
