# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignment 4: its vectors tell each misreading of Algorithm 1 from the right reading."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from lab_course.assignment import find_assignment, sibling
from lab_course.make import make

FOURTH = find_assignment("4")
algorithm, vectors = (sibling(str(FOURTH.folder / "checks.py"), name) for name in ("algorithm", "vectors"))
compare = sibling(str(FOURTH.folder / "checks.py"), "compare")
PUBLIC_SHA256 = "e535f337705fbd7ab81edc37e96837f727eea0fac68830196a88e9ca64666161"
SEEDS = (vectors.PUBLIC_SEED, 1, 2**31 - 1)


def module(seed: int, reading: Any = algorithm.RIGHT, draws: int = 1) -> dict[str, Any]:
    """Return what a module prints that reads Algorithm 1 so."""
    return {
        each.name: compare.Own(
            list(algorithm.run(each.acks, reading)), [algorithm._exit(curr, prev, reading) for curr, prev in each.sums]
        )
        for each in vectors.vectors(seed, draws)
    }


def printed(given: dict[str, Any]) -> dict[str, Any]:
    """Pass it through the lines that the module prints."""
    lines = [
        f"paper: {name} bin={row.bin} bin_us={row.bin_us} compared={row.compared:d} curr={row.curr} prev={row.prev} "
        f"exit={row.exit:d}"
        for name, own in given.items()
        for row in own.rows
    ]
    lines += [f"paper: {name} exits={''.join(f'{left:d}' for left in own.exits)}" for name, own in given.items()]
    found: dict[str, Any] = compare.printed("\n".join(lines))
    return found


def test_all_students_get_the_same_public_vectors(tmp_path: Path) -> None:
    (student,) = make(tmp_path, [FOURTH], ["s1"])
    header = (student / FOURTH.folder.name / "vectors.h").read_bytes()
    assert hashlib.sha256(header).hexdigest() == PUBLIC_SHA256


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_rows_have_all_points_in_each_aspect(seed: int) -> None:
    own = printed(module(seed))
    assert own == module(seed)
    for aspect in (compare.BINS, compare.WINDOWS, compare.DECISION, compare.EVERYTHING):
        assert compare.marks(own, seed, aspect).share == 1


@pytest.mark.parametrize("reading", algorithm.MISREADINGS, ids=lambda reading: reading.advice[:40])
def test_the_public_vectors_show_each_misreading_and_name_it(reading: Any) -> None:
    own = printed(module(vectors.PUBLIC_SEED, reading))
    marks = compare.marks(own, vectors.PUBLIC_SEED, compare.EVERYTHING)
    assert marks.share < 1
    assert reading.advice in marks.reason
    assert "bin " in marks.where


def test_a_wrong_window_costs_the_decision_no_points() -> None:
    reading = next(each for each in algorithm.MISREADINGS if each.shift == "future")
    own = printed(module(vectors.PUBLIC_SEED, reading))
    assert compare.marks(own, vectors.PUBLIC_SEED, compare.WINDOWS).share < 1
    assert compare.marks(own, vectors.PUBLIC_SEED, compare.DECISION).share == 1


@pytest.mark.parametrize("knows", ["never", "always"])
def test_a_verdict_that_does_not_follow_from_its_two_sums_has_points_for_no_more_than_the_path_that_never_fills(
    knows: str,
) -> None:
    exits = [knows == "always"] * vectors.SUMS
    own = {name: compare.Own(right.rows, exits) for name, right in module(1, draws=8).items()}
    assert compare.marks(own, 1, compare.DECISION, 8).share == (0 if knows == "always" else 0.25)
    assert compare.marks(own, 1, compare.WINDOWS, 8).share == 1


def test_bins_of_other_vectors_are_right_by_luck_in_one_draw_and_not_in_eight() -> None:
    other = {
        name: compare.Own(
            [own._replace(compared=row.compared) for own, row in zip(right.rows, given.rows, strict=False)]
        )
        for (name, right), given in zip(module(1, draws=8).items(), 8 * list(module(4).values()), strict=True)
    }
    assert compare.marks(other, 1, compare.BINS).share > 0
    assert compare.marks(other, 1, compare.BINS, 8).share == 0


def test_the_first_draws_of_several_are_those_of_one() -> None:
    assert vectors.vectors(3, 8)[: len(vectors.KINDS)] == vectors.vectors(3)


def test_a_module_that_prints_nothing_has_no_points() -> None:
    for aspect in (compare.BINS, compare.WINDOWS, compare.DECISION, compare.EVERYTHING):
        assert compare.marks({}, vectors.PUBLIC_SEED, aspect).share == 0


def test_each_student_has_other_hidden_vectors() -> None:
    assert module(1) != module(2)


def test_a_number_that_no_module_can_count_to_is_no_row() -> None:
    row = "paper: doubling bin={} bin_us=1 compared=1 curr=1 prev=1 exit=0"
    assert not compare.printed(row.format(5000 * "9"))
    assert len(compare.printed(row.format(2**64 - 1))["doubling"].rows) == 1
