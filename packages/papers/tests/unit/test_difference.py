# SPDX-License-Identifier: GPL-2.0-or-later
"""The difference of ours from a published value, in words: against the tolerance, and against our interval."""

from typing import Any

import pytest
from lab_papers.evaluation.claims.difference import compared, distance, of_claim, signed

SHARE: dict[str, Any] = {
    "metric": "chokepoint_pct",
    "unit": "%",
    "published": 66.0,
    "tolerance": 10.0,
    "ours": 1.0,
    "lo": 0.0,
    "hi": 6.0,
}


def test_a_large_difference_is_a_sentence() -> None:
    assert compared(SHARE) == "1 % here, 66 % published: 65.0 points less, 6.5 times the tolerance of 10"
    assert signed(SHARE) == "-65.0"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ours": 70.0, "lo": 62.0, "hi": 77.0}, "4.0 points more, within the tolerance of 10; our interval contains"),
        ({"ours": 70.0, "lo": 69.0, "hi": 71.0}, "4.0 points more, within the tolerance of 10; our interval excludes"),
        ({"ours": 80.0, "lo": 60.0, "hi": 90.0}, "14.0 points more, beyond the tolerance of 10; our interval contains"),
        ({"ours": 66.004, "lo": 60.0, "hi": 70.0}, "no difference; our interval contains"),
        ({"ours": 70.0, "lo": None, "hi": None}, "4.0 points more, within the tolerance of 10"),
    ],
)
def test_tolerance_and_interval_are_two_tests(changes: dict[str, Any], words: str) -> None:
    assert distance(SHARE | changes).removesuffix(" the published value") == words


@pytest.mark.parametrize(
    ("metric", "unit", "words"),
    [
        ("loss_s", "s", "7.33 s more"),
        ("retransmits_pkts", "packets", "7.33 packets more"),
        ("rtt_ratio", "times", "7.33 more"),
    ],
)
def test_a_difference_has_the_unit_of_its_metric(metric: str, unit: str, words: str) -> None:
    row = SHARE | {"metric": metric, "unit": unit, "published": 18.1, "ours": 25.43, "tolerance": 4.5}
    assert distance(row).startswith(f"{words}, beyond the tolerance of 4.5")
    assert signed(row) == "+7.33"


def test_without_a_value_there_is_no_difference() -> None:
    row = SHARE | {"ours": None, "lo": None, "hi": None}
    assert (compared(row), distance(row), signed(row)) == ("", "", "")
    assert of_claim(row).within_tolerance is None
