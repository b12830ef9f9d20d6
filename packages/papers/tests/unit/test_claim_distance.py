# SPDX-License-Identifier: GPL-2.0-or-later
"""How far ours lies from a published value, in words: against the tolerance and against our interval."""

from typing import Any

import pytest
from lab_papers.evaluation.claims.difference import Difference, compared, difference, distance, of_claim, signed

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
        ({"ours": 11.0, "metric": "rtt_ratio", "unit": ""}, "1 more, within the tolerance of 1"),
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
    expected = "11 s here, 10 s published: 1 s more, within the tolerance of 1"
    assert compared(ROW | {"ours": 11.0}) == expected
