# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts as rules that hold for any data, what a counterfactual explains, and how far ours lies off, in words."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lab_papers.evaluation.claims.difference import Difference, compared, difference, distance, of_claim, signed
from lab_papers.evaluation.claims.estimate import Estimate
from lab_papers.evaluation.claims.verdict import (
    AGREES,
    DIFFERS,
    EXPLAINED,
    FEWEST_TRIALS,
    MOST_PCT,
    PARTLY,
    UNEXPLAINED,
    UNJUDGED,
    Explained,
    explained,
    tolerance_of,
    verdict,
)

from lab.tables.records import ToleranceRecord

VALUES = st.floats(min_value=-1e3, max_value=1e3).map(lambda value: round(value, 3))
WIDTHS = st.floats(min_value=0, max_value=100).map(lambda width: round(width, 3))
TRIALS = st.integers(min_value=FEWEST_TRIALS, max_value=500)
ESTIMATES = st.builds(
    lambda value, below, above, trials: Estimate(value, value - below, value + above, trials),
    VALUES,
    WIDTHS,
    WIDTHS,
    TRIALS,
)
PUBLISHED, TOLERANCE = 100.0, 10.0
OURS = Estimate(60.0, 55.0, 65.0, 77)


@pytest.mark.parametrize(
    ("ours", "says"),
    [
        (Estimate(95.0, 90.0, 98.0, 77), AGREES),
        (Estimate(80.0, 70.0, 85.0, 77), DIFFERS),
        (Estimate(85.0, 75.0, 92.0, 77), UNJUDGED),  # the interval reaches into the tolerance
        (Estimate(95.0, 60.0, 99.0, 9), UNJUDGED),  # too few
        (Estimate(95.0, None, None, 1), UNJUDGED),
        (Estimate(None, None, None, 0), UNJUDGED),
        (Estimate(110.0, 108.0, 112.0, FEWEST_TRIALS), AGREES),  # both edges belong to the tolerance
        (Estimate(90.0, 88.0, 92.0, FEWEST_TRIALS), AGREES),
        (Estimate(111.0, 110.0, 112.0, FEWEST_TRIALS), UNJUDGED),  # the interval reaches the upper edge
        (Estimate(89.0, 88.0, 90.0, FEWEST_TRIALS), UNJUDGED),
        (Estimate(111.0, 110.5, 112.0, FEWEST_TRIALS), DIFFERS),
        (Estimate(89.0, 88.0, 89.5, FEWEST_TRIALS), DIFFERS),
        (Estimate(100.0, 99.0, 101.0, FEWEST_TRIALS - 1), UNJUDGED),
    ],
)
def test_a_verdict_takes_the_tolerance_the_interval_and_enough_trials(ours: Estimate, says: str) -> None:
    found, why = verdict(PUBLISHED, TOLERANCE, ours)
    assert found == says
    assert (why is None) == (says != UNJUDGED)


@pytest.mark.parametrize(
    ("bound", "lo", "hi", "says"),
    [
        ("at_most", 80.0, 99.9, AGREES),
        ("at_most", 80.0, 100.0, UNJUDGED),
        ("at_most", 100.0, 100.0, UNJUDGED),  # equal values have no order
        ("at_most", 100.1, 120.0, DIFFERS),
        ("at_least", 100.1, 120.0, AGREES),
        ("at_least", 100.0, 120.0, UNJUDGED),
        ("at_least", 80.0, 99.9, DIFFERS),
    ],
)
def test_a_bound_is_kept_by_the_whole_interval(bound: str, lo: float, hi: float, says: str) -> None:
    assert verdict(PUBLISHED, 0.0, Estimate((lo + hi) / 2, lo, hi, 77), bound)[0] == says
    assert difference(PUBLISHED, 0.0, (lo + hi) / 2, lo, hi, bound).interval_contains == (says == AGREES)


def test_a_bound_has_no_tolerance() -> None:
    assert tolerance_of({"share_points": 10, "relative_pct": 25}, "exit_s", 13.7, "at_most") == 0


def test_a_run_that_keeps_the_bound_closes_the_whole_difference() -> None:
    ours, theirs = Estimate(120.0, 115.0, 125.0, 77), Estimate(60.0, 50.0, 70.0, 77)
    assert explained(PUBLISHED, 0.0, ours, theirs, "at_most") == Explained(EXPLAINED, 100.0, None)


def test_shares_have_a_tolerance_in_points_and_all_else_in_percent_of_what_was_published() -> None:
    stated: ToleranceRecord = {"share_points": 10, "relative_pct": 25}
    assert tolerance_of(stated, "early_pct", 13.9) == tolerance_of(stated, "early_pct", 0) == 10
    assert tolerance_of(stated, "exit_s", 13.7) == pytest.approx(3.425)


@pytest.mark.parametrize(
    ("theirs", "says", "closed_pct"),
    [
        (Estimate(97.0, 94.0, 99.0, 77), EXPLAINED, 92.5),  # within the tolerance
        (Estimate(88.0, 84.0, 93.0, 77), EXPLAINED, 70.0),  # its interval reaches into the tolerance
        (Estimate(104.0, 101.0, 107.0, 77), EXPLAINED, 90.0),  # a little too far is still where the source is
        (Estimate(80.0, 76.0, 85.0, 77), PARTLY, 50.0),  # closer, and not there
        (Estimate(80.0, 70.0, 91.0, 77), PARTLY, 50.0),  # half of the way is not most of it
        (Estimate(80.3, 70.0, 91.0, 77), EXPLAINED, 50.75),  # a little more is
        (Estimate(78.0, 66.0, 91.0, 12), PARTLY, 45.0),  # it reaches the tolerance only since it is wide
        (Estimate(130.0, 127.0, 133.0, 77), PARTLY, 25.0),  # beyond it, and still closer than ours
        (Estimate(64.0, 60.0, 68.0, 77), UNEXPLAINED, 10.0),  # the intervals overlap
        (Estimate(97.0, 65.0, 99.0, 77), UNEXPLAINED, 92.5),  # they touch
        (Estimate(40.0, 35.0, 45.0, 77), UNEXPLAINED, -50.0),  # it moves away
        (Estimate(150.0, 145.0, 155.0, 77), UNEXPLAINED, -25.0),  # it moves past, further off than ours
    ],
)
def test_a_counterfactual_explains_what_it_moves_most_of_the_way(
    theirs: Estimate, says: str, closed_pct: float
) -> None:
    found = explained(PUBLISHED, TOLERANCE, OURS, theirs)
    assert found.status == says
    assert found.closed_pct == pytest.approx(closed_pct)
    assert (found.why is None) == (says == EXPLAINED)


@pytest.mark.parametrize("trials", [0, 1, FEWEST_TRIALS - 1])
def test_a_counterfactual_of_few_trials_explains_nothing(trials: int) -> None:
    found = explained(PUBLISHED, TOLERANCE, OURS, Estimate(100.0, 100.0, 100.0, trials))
    assert found.status == UNEXPLAINED
    assert found.why == f"{trials} of its trials can be judged: must be {FEWEST_TRIALS}"


def test_a_counterfactual_that_never_gave_the_value_explains_nothing() -> None:
    assert explained(PUBLISHED, TOLERANCE, OURS, Estimate(None, None, None, 0)).status == UNEXPLAINED


@given(VALUES, WIDTHS, ESTIMATES)
def test_one_run_has_one_verdict_and_only_what_lies_within_the_tolerance_agrees(
    published: float, tolerance: float, ours: Estimate
) -> None:
    says, _ = verdict(published, tolerance, ours)
    assert says in (AGREES, DIFFERS, UNJUDGED)
    assert ours.value is not None
    if says == AGREES:
        assert ours.lo is not None
        assert ours.hi is not None
        within = abs(ours.value - published) <= tolerance
        assert within or (not tolerance and ours.lo <= published <= ours.hi)
    if says == DIFFERS:
        assert abs(ours.value - published) > tolerance


def differing(published: float, tolerance: float, ours: Estimate) -> None:
    assume(verdict(published, tolerance, ours)[0] == DIFFERS)


@given(VALUES, WIDTHS, ESTIMATES, ESTIMATES)
def test_nothing_is_explained_by_a_run_whose_interval_overlaps_ours(
    published: float, tolerance: float, ours: Estimate, theirs: Estimate
) -> None:
    differing(published, tolerance, ours)
    says = explained(published, tolerance, ours, theirs)
    assert ours.lo is not None
    assert ours.hi is not None
    assert theirs.lo is not None
    assert theirs.hi is not None
    if theirs.lo <= ours.hi and ours.lo <= theirs.hi:
        assert says.status == UNEXPLAINED


@given(VALUES, WIDTHS, ESTIMATES, ESTIMATES)
def test_what_is_explained_lies_closer_to_the_published_value_than_to_ours(
    published: float, tolerance: float, ours: Estimate, theirs: Estimate
) -> None:
    differing(published, tolerance, ours)
    says = explained(published, tolerance, ours, theirs)
    assert ours.value is not None
    assert theirs.value is not None
    ours_off, theirs_off = abs(ours.value - published), abs(theirs.value - published)
    if says.status in (EXPLAINED, PARTLY):
        assert theirs_off < ours_off
    if says.status == EXPLAINED:
        assert theirs_off < ours_off * (1 - MOST_PCT / 100)
        assert verdict(published, tolerance, theirs)[0] != DIFFERS


@given(VALUES, WIDTHS, ESTIMATES)
def test_a_run_that_gives_what_ours_gave_explains_nothing(published: float, tolerance: float, ours: Estimate) -> None:
    differing(published, tolerance, ours)
    assert explained(published, tolerance, ours, ours).status == UNEXPLAINED


@given(VALUES, WIDTHS, ESTIMATES, ESTIMATES)
def test_an_explanation_does_not_depend_on_the_direction(
    published: float, tolerance: float, ours: Estimate, theirs: Estimate
) -> None:
    differing(published, tolerance, ours)
    turned = explained(-published, tolerance, mirrored(ours), mirrored(theirs))
    assert turned.status == explained(published, tolerance, ours, theirs).status


def mirrored(one: Estimate) -> Estimate:
    assert one.value is not None
    assert one.lo is not None
    assert one.hi is not None
    return Estimate(-one.value, -one.hi, -one.lo, one.trials)


ROW: dict[str, Any] = {"published": 10.0, "tolerance": 1.0, "lo": 9.0, "hi": 13.0, "metric": "exit_s", "unit": "s"}
WITHIN = "; our interval contains the published value"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ours": 10.0}, "no difference"),
        ({"ours": 11.0}, "1 s more, within the tolerance of 1"),
        ({"ours": 9.5}, "0.5 s less, within the tolerance of 1"),
        ({"ours": 11.5}, "1.5 s more, beyond the tolerance of 1"),
        ({"ours": 12.0}, "2 s more, 2.0 times the tolerance of 1"),
        ({"ours": 7.0}, "3 s less, 3.0 times the tolerance of 1"),
        ({"ours": 12.0, "tolerance": 0.0}, "2 s more, without a tolerance: our interval decides"),
        ({"ours": 11.0, "metric": "early_pct", "unit": "%"}, "1.0 points more, within the tolerance of 1"),
        ({"ours": 11.0, "metric": "rtt_ratio", "unit": "times"}, "1 more, within the tolerance of 1"),
        ({"ours": 17.5, "metric": "x_pkts", "unit": "packets"}, "7.5 packets more, 7.5 times the tolerance of 1"),
        ({"ours": 10.004, "metric": "early_pct", "unit": "%"}, "no difference"),
    ],
)
def test_a_distance_is_in_words_against_the_tolerance(changes: dict[str, Any], words: str) -> None:
    assert distance(ROW | changes) == words + WITHIN


@pytest.mark.parametrize(
    ("lo", "hi", "words"),
    [
        (10.0, 11.0, WITHIN),
        (9.0, 10.0, WITHIN),
        (10.1, 11.0, WITHIN.replace("contains", "excludes")),
        (8.0, 9.9, WITHIN.replace("contains", "excludes")),
        (None, 11.0, ""),
        (9.0, None, ""),
    ],
)
def test_an_interval_contains_its_bounds(lo: float | None, hi: float | None, words: str) -> None:
    assert distance(ROW | {"ours": 10.0, "lo": lo, "hi": hi}) == "no difference" + words


def test_without_a_value_of_ours_there_is_no_distance() -> None:
    row = ROW | {"ours": None}
    assert of_claim(row) == Difference(None, None, None)
    assert (signed(row), compared(row), distance(row)) == ("", "", "")


def test_a_difference_has_its_sign() -> None:
    assert [signed(ROW | {"ours": ours}) for ours in (12.5, 7.5, 10.0)] == ["+2.5", "-2.5", "0"]
    assert signed(ROW | {"ours": 10.04, "metric": "early_pct"}) == "0.0"
    assert difference(10.0, 1.0, 11.5, None, None) == Difference(1.5, False, None)


def test_both_values_stand_in_a_sentence() -> None:
    assert compared(ROW | {"ours": 11.0}) == "11 s here, 10 s published: 1 s more, within the tolerance of 1"
    share = ROW | {"metric": "chokepoint_pct", "unit": "%", "published": 66.0, "tolerance": 10.0, "ours": 1.0}
    assert compared(share) == "1 % here, 66 % published: 65.0 points less, 6.5 times the tolerance of 10"
