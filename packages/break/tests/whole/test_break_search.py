# SPDX-License-Identifier: GPL-2.0-or-later
"""Searching and shrinking: of a function in place of trials, whose worst point is known."""

from collections.abc import Sequence

import pytest
from lab_break.measures import CRASH, Trials
from lab_break.search import OPTIMISERS, Searched, search
from lab_break.shrink import shrink
from lab_break.space import Point, load_bounds

BOUNDS = load_bounds("access")


def badness(point: Point) -> float:
    """A ridge: bad where the rate is low and jitter is cyclic; all else does not matter."""
    return 10 / float(point["rate_mbps"]) * (2 if point["jitter"] == "cycle" else 1)


def valued(points: Sequence[Point]) -> list[tuple[float | None, Trials]]:
    return [(badness(point), {}) for point in points]


def searched(optimiser: str, points: int = 160, seed: int = 1) -> Searched:
    return search(BOUNDS, optimiser, seed, points, valued, lambda _found: True)


def points(found: Searched) -> list[Point]:
    return [each.point for each in found.tried]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_a_search_repeats_itself(optimiser: str) -> None:
    assert [each.point for each in searched(optimiser, 80).tried] == [
        each.point for each in searched(optimiser, 80).tried
    ]


def test_another_seed_searches_other_links() -> None:
    assert searched("tpe", 64).tried[1].point != searched("tpe", 64, seed=2).tried[1].point


def test_a_longer_search_begins_as_a_shorter_one() -> None:
    assert [each.point for each in searched("tpe", 128).tried][:64] == [
        each.point for each in searched("tpe", 64).tried
    ]


@pytest.mark.parametrize("optimiser", ["tpe", "cmaes"])
def test_an_optimiser_gets_nearer_to_the_worst_link_than_chance(optimiser: str) -> None:
    late = searched(optimiser).tried[-32:]
    chance = searched("random").tried[-32:]
    assert sum(badness(each.point) for each in late) > 1.5 * sum(badness(each.point) for each in chance)


def test_the_usual_link_comes_first() -> None:
    assert searched("tpe", 32).tried[0].point == BOUNDS.usual


def test_a_link_without_a_value_does_not_stop_the_search() -> None:
    def halved(points: Sequence[Point]) -> list[tuple[float | None, Trials]]:
        return [(None if point["rate_mbps"] > 20 else badness(point), {}) for point in points]  # type: ignore[operator]

    found = search(BOUNDS, "tpe", 1, 96, halved, lambda _found: True)
    assert len(found.tried) == 96
    assert found.worst
    assert found.worst.value


def test_of_no_value_nothing_is_worst() -> None:
    found = search(BOUNDS, "tpe", 1, 32, lambda points: [(None, {}) for _ in points], lambda _found: True)
    assert found.worst is None


def test_a_search_for_the_first_find_ends_with_its_batch() -> None:
    assert len(search(BOUNDS, "tpe", 1, 320, valued, lambda _found: False).tried) == 32


def test_a_find_is_shrunk_to_what_shows_it() -> None:
    wild = {
        **BOUNDS.usual,
        "rate_mbps": 1.037,
        "jitter": "cycle",
        "loss_pct": 0.73,
        "step_factor": 2.2,
        "delay_ms": 71.3,
        "return_loss_pct": 40.0,
        "detour_ms": 300.0,
        "detour_at_s": 0.2,
    }
    small = shrink(wild, BOUNDS, badness(wild), lambda points: [badness(point) for point in points])
    assert {name: value for name, value in small.items() if value != BOUNDS.usual[name]} == {
        "rate_mbps": 1.0,
        "jitter": "cycle",
    }


def test_parameters_that_need_each_other_are_kept() -> None:
    wild = {**BOUNDS.usual, "loss_pct": 0.73, "step_factor": 2.2}

    def both(point: Point) -> float:
        return float(float(point["loss_pct"]) > 0.5 and float(point["step_factor"]) > 2)

    small = shrink(wild, BOUNDS, 1.0, lambda points: [both(point) for point in points])
    assert (small["loss_pct"], small["step_factor"]) == (0.7, 2.2)


def test_no_number_of_a_shrunk_link_can_be_shorter() -> None:
    wild = {"rate_mbps": 31.42, "delay_ms": 27.18, "loss_pct": 0.1414}

    def one_is_long(point: Point) -> float:
        unusual = all(point[name] != BOUNDS.usual[name] for name in wild)
        return float(unusual and any(point[name] == value for name, value in wild.items()))

    small = shrink({**BOUNDS.usual, **wild}, BOUNDS, 1.0, lambda points: [one_is_long(point) for point in points])
    assert [small[name] for name in wild] == [30, 30, 0.1414]


def test_a_link_on_which_a_sender_crashes_is_another_find() -> None:
    wild = {**BOUNDS.usual, "loss_pct": 0.73, "delay_ms": 71.3}

    def values(points: Sequence[Point]) -> list[float | None]:
        return [CRASH if point["loss_pct"] == 0 else 5.0 for point in points]

    assert shrink(wild, BOUNDS, 5.0, values)["loss_pct"] == 0.7
