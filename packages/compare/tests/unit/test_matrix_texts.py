# SPDX-License-Identifier: GPL-2.0-or-later
"""What a cell of the ranking matrix says: a value with its unit, who leads, a difference, how far two may be apart."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from lab_compare.matrix.matrix import _lacking
from lab_compare.matrix.texts import apart_text, difference_text, leads, value_text
from lab_compare.ranks import Pair, RankedPlace, pairs, places

from lab.base.format import NONE
from lab.base.stats import AtLeast, Paired, mean_of
from lab.evaluation.measures import BY_NAME
from lab.evaluation.sequential import one_look

MINUS = "\N{MINUS SIGN}"


def pair(difference: float | None, lo: float | None, hi: float | None, effect: float = 1.0, pairs: int = 4) -> Pair:
    return Pair("search", "cubic", Paired(pairs, difference, lo, hi, difference, effect), 0.01, True, False)


def test_a_mean_is_of_the_values_that_exist() -> None:
    assert mean_of([1.0, None, 4.0]) == 2.5
    assert mean_of([None]) is None


@pytest.mark.parametrize(
    ("measure", "values", "shown"),
    [
        ("chokepoint", [1.0, 0.0, None, 1.0], "2/3"),
        ("chokepoint", [None], NONE),
        ("throughput", [8.0, None, 9.0], "8.5 Mb/s"),
        ("throughput", [0.25], "0.25 Mb/s"),
        ("throughput", [1.0], "1.0 Mb/s"),
        ("throughput", [0.0], "0.0 Mb/s"),
        ("retransmits", [1234.0], "1,234 packets"),
        ("harm", [0.4], "0 %"),
        ("queueing", [None, None], NONE),
        ("object_20000000", [14.0, AtLeast(15.0), None], "\N{GREATER-THAN OR EQUAL TO}14.50 s"),
    ],
)
def test_a_value_has_its_units_digits_one_more_below_one(measure: str, values: list[float | None], shown: str) -> None:
    assert value_text(BY_NAME[measure], values) == shown


def test_a_sender_leads_where_nobody_is_ahead_and_somebody_is_behind() -> None:
    first, shared, second = RankedPlace(1, 1), RankedPlace(1, 2), RankedPlace(2, 2)
    assert leads(first, {"a": first, "b": second})
    assert not leads(second, {"a": first, "b": second})
    assert not leads(shared, {"a": shared, "b": shared})
    assert leads(shared, {"a": shared, "b": shared, "c": RankedPlace(3, 3)})
    assert not leads(None, {"a": first})


@pytest.mark.parametrize(
    ("measure", "found", "of_sender", "shown"),
    [
        ("throughput", pair(2.0, 1.0, 3.0), "search", "+2.0 Mb/s [+1.0, +3.0], large effect"),
        ("throughput", pair(2.0, 1.0, 3.0, 0.2), "cubic", f"{MINUS}2.0 Mb/s [{MINUS}3.0, {MINUS}1.0], small effect"),
        ("throughput", pair(0.25, -0.5, 1.0), "search", f"+0.25 Mb/s [{MINUS}0.50, +1.00], large effect"),
        ("chokepoint", pair(0.5, 0.25, 0.75), "search", "+50 points [+25, +75], large effect"),
        (
            "chokepoint",
            pair(1.0, 1.0, 1.0, pairs=3),
            "cubic",  # 1 - 0.05 ** (1 / 3): 63.2 %
            f"{MINUS}100 points in each of 3 trials: the chance of another value is below 64 %",
        ),
        ("throughput", pair(2.0, None, None, pairs=1), "search", "+2.0 Mb/s"),
        ("throughput", pair(2.0, 1.0, None), "search", "+2.0 Mb/s, large effect"),
        ("throughput", pair(0.0, 0.0, 0.0), "search", "no difference"),
        ("throughput", pair(0.0, -1.0, 1.0), "search", f"±0.0 Mb/s [{MINUS}1.0, +1.0], large effect"),
        ("retransmits", pair(-1500.0, None, None), "search", f"{MINUS}1,500 packets, large effect"),
        ("throughput", pair(None, None, None), "search", ""),
    ],
)
def test_a_difference_has_its_sign_as_seen_from_the_sender_its_interval_and_its_effect(
    measure: str, found: Pair, of_sender: str, shown: str
) -> None:
    assert difference_text(BY_NAME[measure], found, of_sender) == shown


@pytest.mark.parametrize(
    ("measure", "found", "shown"),
    [
        ("throughput", pair(-1.0, -3.0, 1.0), "at most 3.0 Mb/s apart"),
        ("throughput", pair(1.0, -1.0, 3.0), "at most 3.0 Mb/s apart"),
        ("throughput", pair(1.0, -1.0, 3.01), "at most 3.1 Mb/s apart"),  # a bound is rounded up
        ("retransmits", pair(0.5, 0.0, 1.25), "at most 2 packets apart"),
        ("object_100000", pair(0.0, -0.0001, 0.0), "at most 0.001 s apart"),
        ("throughput", pair(0.0, 0.0, 0.0), "alike in every trial"),
        ("throughput", pair(1.0, None, 2.0), "too few trials for an interval"),
        ("throughput", pair(1.0, 0.0, None), "too few trials for an interval"),
        ("chokepoint", pair(0.1, -0.2, 0.3), "at most 30 points apart"),
        ("chokepoint", pair(0.0, 0.0, 0.0, pairs=30), "at most 10 points apart"),  # 1 - 0.05 ** (1 / 30)
    ],
)
def test_how_far_two_senders_may_be_apart_is_the_intervals_further_end(measure: str, found: Pair, shown: str) -> None:
    assert apart_text(BY_NAME[measure], found) == shown


TWENTY_MB = BY_NAME["object_20000000"]
SHORT = [AtLeast(15.0)] * 8  # downloads that never had 20 MB


def test_a_download_that_never_had_the_object_is_behind_and_by_how_much_is_a_bound() -> None:
    values: dict[str, Sequence[float | None]] = {"fast": [13.0] * 8, "slow": SHORT, "slower": SHORT}
    ahead, _, open_ = tested = pairs(values, one_look(8), binary=False)
    shown = {name: (place.best, place.worst) for name, place in places(list(values), tested, False).items()}
    assert shown == {"fast": (1, 1), "slow": (2, 3), "slower": (2, 3)}
    bound = "of lower bounds: a download was too short"
    assert difference_text(TWENTY_MB, ahead, "slow") == f"+2.00 s [+2.00, +2.00], large effect, {bound}"
    assert difference_text(TWENTY_MB, open_, "slow") == ""
    assert apart_text(TWENTY_MB, open_) == "how far is not known: a download was too short"


def test_a_download_that_ended_before_another_had_the_object_is_not_the_faster_one() -> None:
    (found,) = pairs({"whole": [14.0] * 8, "cut": [AtLeast(9.0)] * 8}, one_look(8), binary=False)
    assert (found.separated, found.difference.pairs) == (False, 0)


@pytest.mark.parametrize(
    ("rival", "of_shared", "has_values", "valid", "why"),
    [
        ("cubic", False, True, 1, "here only harm is measured"),
        (None, True, True, 1, "not run"),
        ("cubic", True, False, 1, "not run"),
        ("cubic", True, True, 0, "no valid trial"),
        (None, False, True, 0, "no valid trial"),
        (None, False, False, 1, "no download was so long"),
        (None, False, True, 1, "no exit was judged"),
    ],
)
def test_a_cell_without_it_says_why(rival: str | None, of_shared: bool, has_values: bool, valid: int, why: str) -> None:
    measure: Any = SimpleNamespace(name="some", shared=of_shared, size_bytes=1_000_000)
    values: dict[str, object] = {"some": {}} if has_values else {}
    found: Any = SimpleNamespace(link=SimpleNamespace(rival=rival), values=values, valid=lambda _cca: valid)
    assert _lacking(found, measure, "search") == why
