# SPDX-License-Identifier: GPL-2.0-or-later
"""The leaderboard: submissions that have not separated are ties, and a fault is a row."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from lab_course.assignment import find_assignment
from lab_course.leaderboard import Result, board, distinct, lines, rank, sender_file, table
from rich.console import Console
from small_assignment import small_assignment

from lab.base.errors import UserError

USUAL = Result(
    "cubic", {"far": [4.0, 4.1, 4.2, 4.0], "near": [2.0, 2.1, 2.0, 2.2]}, {"far": [0.0] * 4, "near": [0.0] * 4}
)


def result(name: str, factor: float, hits: float = 1.0) -> Result:
    times = {link: [value * factor for value in values] for link, values in USUAL.object_s.items()}
    return Result(name, times, {link: [hits] * 4 for link in times})


def test_a_submission_that_is_always_faster_is_ahead_and_its_difference_is_paired() -> None:
    rows = board([result("slow", 1.2), result("fast", 0.8)], USUAL)
    assert [(row.place, row.name) for row in rows] == [(1, "fast"), (2, "slow")]
    fast = rows[0].against
    assert fast.pairs == 8
    assert fast.difference is not None
    assert fast.lo is not None
    assert fast.hi is not None
    assert fast.lo <= fast.difference <= fast.hi < 0


def test_submissions_that_have_not_separated_share_a_place() -> None:
    mixed = Result("b", {"far": [3.9, 4.3, 4.1, 4.2], "near": [2.1, 1.9, 2.1, 2.0]}, result("b", 1).chokepoint)
    rows = board([result("a", 1.0), mixed], USUAL)
    assert [row.place for row in rows] == [1, 1]
    assert all(line.startswith("  1= ") for line in lines(rows, []))


def test_a_line_has_an_interval_where_there_are_values_enough_for_one() -> None:
    few = Result("cubic", {"far": [4.0, 4.1]}, {"far": [0.0] * 2})
    slower = Result("a", {"far": [5.0, 5.3]}, {"far": [1.0] * 2})
    assert list(lines(board([slower], few), [])) == [
        "  1  a: 2 MB in 5.15 s, 100 % at the chokepoint; against cubic +1.10 s"
    ]
    (line,) = lines(board([result("a", 0.5)], USUAL), [])
    assert line.endswith(" s [-1.81, -1.17]")


def test_a_submission_without_a_result_is_a_row_with_its_fault() -> None:
    rows = board([result("a", 0.9)], USUAL)
    text = table(rows, [Result("b.zip", fault="rule.c: must be handed in")])
    found = list(csv.DictReader(io.StringIO(text)))
    assert [(row["place"], row["student"], row["note"]) for row in found] == [
        ("1", "a", ""),
        ("", "b.zip", "rule.c: must be handed in"),
    ]
    assert float(found[0]["chokepoint_pct"]) == 100


def test_ties_stand_in_the_order_of_their_exits_at_the_chokepoint() -> None:
    rows = board([result("a", 1.0, hits=0.5), result("b", 1.0)], USUAL)
    assert [(row.place, row.name) for row in rows] == [(1, "b"), (1, "a")]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a.zip", "b.zip"], ["twin (a.zip)", "twin (b.zip)"]),
        (["1/in", "2/in"], ["twin (1/in)", "twin (2/in)"]),
        (["1/in", "2/in", "2/b"], ["twin (1/in)", "twin (2/in)", "twin (b)"]),
    ],
)
def test_each_of_a_students_submissions_has_the_place_of_its_own_values(paths: list[str], names: list[str]) -> None:
    found = [result("twin", 0.8 + number / 5) for number in range(len(paths))]
    rows = board(distinct(found, [Path(path) for path in paths]), USUAL)
    assert [(row.place, row.name) for row in rows] == list(enumerate(names, 1))


def test_what_was_not_read_of_a_submission_stands_beside_its_place() -> None:
    rows = board([replace(result("a", 0.9), note="old/rule.c: must stand once")], USUAL)
    (line,), (row,) = lines(rows, []), csv.DictReader(io.StringIO(table(rows, [])))
    assert line.endswith("] (old/rule.c: must stand once)")
    assert row["note"] == "old/rule.c: must stand once"


def test_a_submission_that_is_given_twice_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "s1").mkdir()
    given = [tmp_path / "s1", tmp_path / "s1" / ".." / "s1"]
    with pytest.raises(UserError, match=r"^command line: submissions=.*: must be given once$"):
        rank("6", given, tmp_path / "key", None, 1, Console())


def test_an_assignment_without_a_module_to_rank_is_refused(tmp_path: Path) -> None:
    assert sender_file(small_assignment(tmp_path / "1-small")) == "own.c"
    for number in "45":  # a header; a module that may be left out
        with pytest.raises(UserError, match=r"must be one whose students hand in a module \(\.c\)"):
            sender_file(find_assignment(number))
