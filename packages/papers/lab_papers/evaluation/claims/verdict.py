# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether ours agrees with a published value; and where it differs, whether the run of a counterfactual explains why.

agrees                    - our estimate lies within the tolerance, of at least FEWEST_TRIALS trials;
                            or, where the tolerance would take a share of 0 % for the published one, our 95 %
                            interval contains the published value;
                            or, of an order or a limit, our whole interval keeps it;
differs, explained        - the counterfactual moved most of the way, and its interval reaches into the tolerance;
differs, partly explained - the counterfactual moved closer, and not so far;
differs, not explained    - no counterfactual was run, or what was run did not move closer;
open                      - the same, and the scenario states what was tried;
cannot be judged here     - no trials, too few, or an interval that leaves it open.

Ours differs where not even its 95 % interval reaches into the tolerance, which was stated before the run. A
counterfactual has moved where its 95 % interval and ours lie apart. That is stricter than a 95 % interval of the
difference that excludes 0, and a reader can see it. No text takes part in any of this, but for `open`.
"""

from dataclasses import dataclass
from math import inf

from lab.base.format import trials_text
from lab.base.stats import FEWEST_VALUES
from lab.tables.records import ToleranceRecord
from lab_papers.evaluation.claims.estimate import IN_POINTS, Estimate

FEWEST_TRIALS = 10  # of an estimate that can agree with a published value
DIFFERS = "differs"  # until its counterfactuals have been looked at
AGREES, EXPLAINED, PARTLY = "agrees", "differs, explained", "differs, partly explained"
UNEXPLAINED, OPEN, UNJUDGED = "differs, not explained", "open", "cannot be judged here"
COUNTED = {  # each in words of several values
    AGREES: "agree",
    EXPLAINED: "differ, explained by a run",
    PARTLY: "differ, partly explained by a run",
    UNEXPLAINED: "differ, not explained",
    OPEN: "open",
    UNJUDGED: "cannot be judged here",
}
BOUNDS = {"at_most": "at most", "at_least": "at least"}
MOST_PCT = 50.0  # of the way to the published value: beyond it the explanation is the larger part of the difference


@dataclass(frozen=True)
class Explained:
    """A counterfactual's effect on a row that differs: how far it moved towards the published value, or why not."""

    status: str
    closed_pct: float | None
    why: str | None


def tolerance_of(tolerance: ToleranceRecord, metric: str, published: float, bound: str | None = None) -> float:
    """How far from a published value ours may lie, in its own unit; 0: our interval decides alone."""
    if bound:
        return 0.0
    if metric in IN_POINTS:
        points = float(tolerance["share_points"])
        return 0.0 if 0 < published <= points else points
    return abs(published) * float(tolerance["relative_pct"]) / 100


def accepted(published: float, tolerance: float, bound: str | None = None) -> tuple[float, float]:
    """Return the smallest and the largest value that agree with a published value, or keep a published bound."""
    least = -inf if bound == "at_most" else published - tolerance
    return least, inf if bound == "at_least" else published + tolerance


def keeps(published: float, lo: float, hi: float, bound: str) -> bool:
    """Return whether a whole interval keeps a bound; equal values have no order, and keep none."""
    return hi < published if bound == "at_most" else lo > published


def verdict(published: float, tolerance: float, ours: Estimate, bound: str | None = None) -> tuple[str, str | None]:
    """Return the verdict, and why there is none."""
    if ours.value is None:
        return UNJUDGED, "it happened in no valid trial"
    if ours.lo is None or ours.hi is None:
        return UNJUDGED, f"of {trials_text(ours.trials)}: must be at least {FEWEST_VALUES} for an interval"
    agreeing = accepted(published, tolerance, bound)
    if not _reaches(agreeing, ours):
        return DIFFERS, None
    if bound and not keeps(published, ours.lo, ours.hi, bound):
        return UNJUDGED, f"{ours.trials} trials leave it open: our interval reaches the bound"
    if tolerance and abs(ours.value - published) > tolerance:
        return UNJUDGED, f"{ours.trials} trials leave it open: the interval reaches into the tolerance"
    if ours.trials < FEWEST_TRIALS:
        return UNJUDGED, f"only {ours.trials} trials: must be {FEWEST_TRIALS} to agree"
    return AGREES, None


def explained(
    published: float, tolerance: float, ours: Estimate, theirs: Estimate, bound: str | None = None
) -> Explained:
    """Judge a counterfactual's estimate against ours, which differs from the published value."""
    if ours.value is None or theirs.value is None or theirs.trials < FEWEST_TRIALS:
        return Explained(UNEXPLAINED, None, f"{theirs.trials} of its trials can be judged: must be {FEWEST_TRIALS}")
    closed_pct = 100 * (1 - _missed(published, theirs.value, bound) / abs(ours.value - published))
    if not _apart(ours, theirs):
        return Explained(UNEXPLAINED, closed_pct, "its interval overlaps ours: it does not move")
    if closed_pct <= 0:
        return Explained(UNEXPLAINED, closed_pct, "it moves, and not closer to the published value")
    if closed_pct > MOST_PCT and _reaches(accepted(published, tolerance, bound), theirs):
        return Explained(EXPLAINED, closed_pct, None)
    return Explained(PARTLY, closed_pct, f"it moves {closed_pct:.0f} % of the way")


def _missed(published: float, value: float, bound: str | None) -> float:
    """Return how far a value lies from a published one; 0 where it keeps the bound."""
    least, most = accepted(published, 0.0, bound)
    return max(least - value, value - most, 0.0)


def _reaches(agreeing: tuple[float, float], found: Estimate) -> bool:
    """Return whether an interval reaches into what agrees."""
    assert found.lo is not None
    assert found.hi is not None
    return found.hi >= agreeing[0] and found.lo <= agreeing[1]


def _apart(one: Estimate, other: Estimate) -> bool:
    """Return whether two intervals have nothing in common."""
    if None in (one.lo, one.hi, other.lo, other.hi):
        return False
    return one.lo > other.hi or other.lo > one.hi  # type: ignore[operator]
