# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignment 4: its vectors tell each misreading of Algorithm 1 from the right reading."""

from typing import Any

import pytest
from lab_course.assignment import find_assignment, sibling

FOURTH = find_assignment("4")
algorithm, vectors = (sibling(str(FOURTH.folder / "checks.py"), name) for name in ("algorithm", "vectors"))
compare = sibling(str(FOURTH.folder / "checks.py"), "compare")
SEEDS = (vectors.PUBLIC_SEED, 1, 2**31 - 1)


def rows(seed: int, reading: Any = algorithm.RIGHT) -> dict[str, list[Any]]:
    return {each.name: list(algorithm.run(each.acks, reading)) for each in vectors.vectors(seed)}


def printed(given: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Pass rows through the lines that the module prints."""
    lines = [
        f"paper: {name} bin={row.bin} bin_us={row.bin_us} compared={row.compared:d} curr={row.curr} prev={row.prev} "
        f"exit={row.exit:d}"
        for name, each in given.items()
        for row in each
    ]
    found: dict[str, list[Any]] = compare.printed("\n".join(lines))
    return found


def test_the_header_that_students_get_holds_the_public_vectors() -> None:
    file = FOURTH.folder / "start" / "vectors.h"
    assert file.read_text() == vectors.header(vectors.vectors(vectors.PUBLIC_SEED))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_rows_have_all_points_in_each_aspect(seed: int) -> None:
    own = printed(rows(seed))
    assert own == rows(seed)
    for aspect in (compare.BINS, compare.WINDOWS, compare.DECISION, compare.EVERYTHING):
        assert compare.marks(own, seed, aspect).share == 1


@pytest.mark.parametrize("reading", algorithm.MISREADINGS, ids=lambda reading: reading.advice[:40])
def test_the_public_vectors_show_each_misreading_and_name_it(reading: Any) -> None:
    own = printed(rows(vectors.PUBLIC_SEED, reading))
    marks = compare.marks(own, vectors.PUBLIC_SEED, compare.EVERYTHING)
    assert marks.share < 1
    assert reading.advice in marks.reason
    assert "bin " in marks.where


def test_a_wrong_window_costs_the_decision_no_points() -> None:
    reading = next(each for each in algorithm.MISREADINGS if each.shift == "future")
    own = printed(rows(vectors.PUBLIC_SEED, reading))
    assert compare.marks(own, vectors.PUBLIC_SEED, compare.WINDOWS).share < 1
    assert compare.marks(own, vectors.PUBLIC_SEED, compare.DECISION).share == 1


def test_a_module_that_prints_nothing_has_no_points() -> None:
    for aspect in (compare.BINS, compare.WINDOWS, compare.DECISION, compare.EVERYTHING):
        assert compare.marks({}, vectors.PUBLIC_SEED, aspect).share == 0


def test_each_student_has_other_hidden_vectors() -> None:
    assert rows(1) != rows(2)
