# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether ours agrees with a published value, within a tolerance that was stated before the run.

agrees                 - our estimate lies within the tolerance, of at least FEWEST trials;
differs                - not even our 95 % interval reaches into it;
cannot be judged here  - everything else: no trials, too few, or an interval that leaves it open.
"""

from typing import Any

from lab.evaluation.estimates import SHARES, Estimate

AGREES, DIFFERS, OPEN = "agrees", "differs", "cannot be judged here"
FEWEST = 10


def tolerance_of(tolerance: dict[str, Any], metric: str, published: float) -> float:
    """How far from a published value ours may lie, in its own unit."""
    if metric in SHARES:
        return float(tolerance["share_points"])
    return abs(published) * float(tolerance["relative_pct"]) / 100


def verdict(published: float, tolerance: float, ours: Estimate) -> tuple[str, str | None]:
    """Return the verdict, and why there is none."""
    if ours.value is None:
        return OPEN, "it happened in no valid trial"
    if ours.lo is None or ours.hi is None:
        return OPEN, "of one trial, which has no interval"
    low, high = published - tolerance, published + tolerance
    if ours.hi < low or ours.lo > high:
        return DIFFERS, None
    if not low <= ours.value <= high:
        return OPEN, f"{ours.trials} trials leave it open: the interval reaches into the tolerance"
    if ours.trials < FEWEST:
        return OPEN, f"only {ours.trials} trials: must be {FEWEST} to agree"
    return AGREES, None
