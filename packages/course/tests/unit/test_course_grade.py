# SPDX-License-Identifier: GPL-2.0-or-later
"""Grades: seeds, answers that are never run, checks that fail alone, and the forms of the result."""

import csv
import io
import json
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from lab_course import grade as grading
from lab_course import whole_class
from lab_course.answers import read_answers
from lab_course.assignment import Assignment, find_assignment
from lab_course.bench import Bench
from lab_course.forms import lines, page, results
from lab_course.grade import Grade
from lab_course.seeds import hidden_seed, make_key, public_seed, read_key
from lab_course.submission import open_submission
from lab_course.whole_class import GradeRequest, grade_all
from rich.console import Console
from small_assignment import CHECKS, YML, handed_in, small_assignment

from lab.base.errors import UserError
from tests.brief import error_of

NO_BENCH: Any = None  # these checks run no trial
KEY = 32 * b"k"


@pytest.fixture
def small(tmp_path: Path) -> Assignment:
    return small_assignment(tmp_path / "course" / "1-small")


def graded(folder: Path, assignment: Assignment, key: bytes | None = None) -> Grade:
    bench: Bench = NO_BENCH
    return grading.grade(assignment, open_submission(folder, assignment), bench, key)


def right(student: str) -> str:
    return f"x: {public_seed('small', student) % 100}\n"


def test_the_right_answer_gets_its_points_and_that_of_another_student_none(tmp_path: Path, small: Assignment) -> None:
    own, other = "s1", "s2"
    assert right(own) != right(other)
    assert graded(handed_in(tmp_path / "a", own, own__c="", answers__yml=right(own)), small).points == 10
    assert graded(handed_in(tmp_path / "b", own, own__c="", answers__yml=right(other)), small).points == 0


def test_without_a_key_only_the_public_part_is_graded(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "a", own__c="", answers__yml=right("s1"))
    assert [row.check.id for row in graded(folder, small).rows] == ["answer"]
    assert [row.check.id for row in graded(folder, small, KEY).rows] == ["answer", "again"]
    assert graded(folder, small, KEY).points == 10  # the hidden seed is another one


@pytest.mark.parametrize(
    ("key", "name", "refused"), [(KEY, "own.c", True), (None, "own.c", False), (KEY, "x.yml", False)]
)
def test_without_bubblewrap_hidden_checks_of_modules_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: bytes | None, name: str, refused: bool
) -> None:
    monkeypatch.setenv("LAB_SANDBOX", "none")
    assignment = small_assignment(tmp_path / "1-small", YML.replace("own.c", name))
    with pytest.raises(UserError, match="allow user namespaces here") if refused else nullcontext():
        grading.require_kept_apart(assignment, key)


def test_hidden_seeds_need_the_key_and_differ_by_student_assignment_and_number() -> None:
    seeds = [hidden_seed(key, name, of, n) for key in (KEY, 32 * b"l") for name in "ab" for of in "xy" for n in (0, 1)]
    assert len({*seeds, public_seed("a", "x"), public_seed("a", "x", 1)}) == len(seeds) + 2
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "key"
    make_key(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(read_key(file)) == 32
    assert "key: must not exist: a new key would change every hidden seed" in error_of(make_key, file)
    file.chmod(0o644)
    assert "key: mode=644: must be 600: chmod 600" in error_of(read_key, file)
    file.write_text("secret")
    assert "key: must be a key that 'lab course key FILE' made" in error_of(read_key, file)


def notebook(source: str, tags: tuple[str, ...] = ("answers",), count: int = 1) -> str:
    cell = {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": [source]}
    return json.dumps({"cells": [cell] * count, "nbformat": 4})


def test_answers_of_a_notebook_are_read_as_a_literal(tmp_path: Path, small: Assignment) -> None:
    text = notebook(f"answers = {{'x': {public_seed('small', 's1') % 100}, 'why': 'a queue', 'all': [1, 2.5]}}")
    folder = handed_in(tmp_path / "a", own__c="", notebook__ipynb=text)
    assert graded(folder, small).points == 10
    answers = read_answers(open_submission(folder, small))
    assert (answers.text("why"), answers.numbers("all")) == ("a queue", [1.0, 2.5])


def test_a_mark_of_an_editor_and_a_number_with_an_exponent_cost_no_points(tmp_path: Path, small: Assignment) -> None:
    right = public_seed("small", "s1") % 100
    marked = handed_in(tmp_path / "a", own__c="", notebook__ipynb="\ufeff" + notebook(f"answers = {{'x': {right}}}"))
    power = handed_in(tmp_path / "b", own__c="", answers__yml=f"x: {right}e0\n")
    assert [graded(folder, small).points for folder in (marked, power)] == [10, 10]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("answers = {'x': 2}", ("notebook.ipynb: x=2: must be as in answers.yml: answers.yml alone is graded",)),
        ("answers = {'x': None}", ()),
        ("answers = {'x': 1.0}", ()),
    ],
)
def test_a_notebook_that_answers_otherwise_than_answers_yml_is_named(
    tmp_path: Path, small: Assignment, text: str, faults: tuple[str, ...]
) -> None:
    folder = handed_in(tmp_path / "a", own__c="", answers__yml="x: 1\n", notebook__ipynb=notebook(text))
    assert graded(folder, small).faults == faults
    (folder / "answers.yml").write_text("")
    alone = "answers.yml: must be answers by name: it alone is graded, not notebook.ipynb"
    assert graded(folder, small).faults == (alone,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"cells": 3}',
        "[" * 15_000,
        notebook("answers = {'x': 1}\nimport os"),
        notebook("raise SystemExit"),
        notebook("answers = {'x': 1}", tags=()),
        notebook("answers = {'x': 1}", count=2),
        notebook("answers = {1: 1}"),
        notebook("answers = {'x': 1, 'x': 2}"),
        notebook("answers = {**{'x': 1}}"),
        notebook("answers = " + "(" * 9000 + ")" * 9000),
        notebook("answers = {'x': 1}\nanswers['x'] = 2"),
    ],
)
def test_a_notebook_that_fails_costs_its_points_in_one_line(tmp_path: Path, small: Assignment, text: str) -> None:
    (row,) = graded(handed_in(tmp_path / "a", own__c="", notebook__ipynb=text), small).rows
    assert row.points == 0
    assert not row.broken
    assert row.marks.reason.startswith("notebook.ipynb: must be a notebook with one cell of the tag 'answers'")


@pytest.mark.parametrize("code", ["open('/etc/passwd').read()", "10 ** 10 ** 10", "0.5 + 0.5", "float('nan')", "2 * x"])
def test_code_in_the_place_of_a_value_costs_this_answer_alone_and_is_named(
    tmp_path: Path, small: Assignment, code: str
) -> None:
    right = public_seed("small", "s1") % 100
    for other, points in ((f"'x': {code}", 0), (f"'x': {right}, 'y': {code}", 10)):
        text = notebook(f"answers = {{{other}}}")
        (row,) = graded(handed_in(tmp_path / str(points), own__c="", notebook__ipynb=text), small).rows
        assert row.points == points
        assert points or row.marks.reason.startswith(
            f"notebook.ipynb: x={code}: must be a value, such as 5.6 or 'text'"
        )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x: '1.5'\n", "answers.yml: x=1.5: must be a number such as 5.6: no quotes, comma or unit"),
        ("x: 1,5\n", "answers.yml: x=1,5: must be a number such as 5.6: no quotes, comma or unit"),
        ("x: [1\n", "answers.yml:"),
        ("x: yes\n", "answers.yml: x=True: must be a number"),
        (f"x: 1{'0' * 400}\n", "answers.yml: x=1000"),
        ("x: 1\nx: 2\n", "answers.yml: line 2 x: must stand once: the field is given twice"),
        ("x: .nan\n", "answers.yml: x=nan: must be a number"),
        ("y: 1\n", "answers.yml: x=: must be answered"),
        ("x: &a [*a]\n", "answers.yml:"),
        ("!!python/object:os.system {}", "answers.yml:"),
        ("- 1\n", "answers.yml: must be answers by name"),
    ],
)
def test_a_bad_answer_is_one_line(tmp_path: Path, small: Assignment, text: str, line: str) -> None:
    (row,) = graded(handed_in(tmp_path / "a", own__c="", answers__yml=text), small).rows
    assert row.marks.reason.startswith(line)
    assert not row.broken


def test_a_check_that_fails_itself_costs_its_own_points_and_is_named(tmp_path: Path) -> None:
    hidden = "def check_again(work):\n    return 1 / 0\n"
    small = small_assignment(tmp_path / "course" / "1-small", hidden=hidden)
    found = graded(handed_in(tmp_path / "a", own__c="", answers__yml=right("s1")), small, KEY)
    assert [row.points for row in found.rows] == [10, 0]
    assert not found.is_sound
    assert "ZeroDivisionError" in found.rows[1].marks.reason


def test_results_json_has_gradescopes_form_and_hides_the_hidden_part(tmp_path: Path, small: Assignment) -> None:
    found = graded(handed_in(tmp_path / "a", own__c="", answers__yml=right("s1")), small, KEY)
    text = results(found)
    content = json.loads(text)
    assert content["score"] == 10
    public, hidden = content["tests"]
    assert (public["score"], public["max_score"], public["visibility"]) == (10, 10, "visible")
    assert (hidden["score"], hidden["max_score"], hidden["visibility"]) == (0, 5, "after_published")
    assert hidden["output"] == "Wrong: look at packet 7.\npacket 7"
    assert "packet 7" not in content["output"]
    assert str(tmp_path) not in text
    assert text == results(found)


def test_what_a_student_wrote_is_text_on_the_page(tmp_path: Path, small: Assignment) -> None:
    found = graded(handed_in(tmp_path / "a", own__c="", answers__yml='x: "<script>alert(1)</script>"\n'), small)
    assert "<script>alert" not in page(found)
    assert "&lt;script&gt;" in page(found)
    shown = list(lines(found))
    assert "0 of 10" in " ".join(" ".join(shown).split())
    assert max(map(len, "\n".join(shown).splitlines())) <= 80


@pytest.mark.parametrize(
    ("yml", "line"),
    [
        (YML.replace("points: 10", "points: 0"), r"checks\.0\.points=0: must be greater than or equal to 1"),
        (YML.replace("id: again", "id: answer"), r"checks\.id=answer: must be given once"),
        (YML.replace("file: own.c", "file: ../own.c"), r"hand_in\.0\.file=\.\./own\.c: must be"),
        (YML.replace("part: public}", "part: public, confirmed_by: x}"), "must be a known check of the hidden part"),
    ],
)
def test_a_faulty_assignment_is_refused_in_one_line(tmp_path: Path, yml: str, line: str) -> None:
    with pytest.raises(UserError, match=line):
        small_assignment(tmp_path / "1-small", yml)


def test_a_check_without_a_function_is_refused(tmp_path: Path) -> None:
    small = small_assignment(tmp_path / "1-small", checks=CHECKS.replace("check_answer", "check_other"))
    assert "check_answer=: must be a function: assignment.yml has this check" in error_of(small.checks, "public")


def test_an_assignment_is_one_folder_and_found_by_number_name_or_path(
    tmp_path: Path, small: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_COURSE", str(tmp_path / "course"))
    assert find_assignment("1-small").folder == small.folder
    assert find_assignment(str(small.folder)).name == "small"
    assert "assignment=99: must be a folder with assignment.yml, or one of" in error_of(find_assignment, "99")


def test_two_submissions_of_a_student_are_both_in_the_table() -> None:
    lines = [whole_class.Line(f"{n}.zip", who, 5.0, 10, "", n) for n, who in (("a", "s1"), ("b", "s1"), ("c", "s2"))]
    rows = list(csv.DictReader(io.StringIO(whole_class.table(whole_class.with_doubles(lines)))))
    assert [row["note"] for row in rows] == ["one of several submissions of this student"] * 2 + [""]


def test_a_formula_of_a_student_is_text_in_the_table() -> None:
    line = whole_class.Line("a.zip", "s1", 5.0, 10, '=HYPERLINK("x")', "a")
    (row,) = csv.DictReader(io.StringIO(whole_class.table([line])))
    assert row["note"] == '\'=HYPERLINK("x")'


def test_a_reason_that_several_checks_share_is_stated_once(tmp_path: Path) -> None:
    second = "  - {id: more, title: The answer yet again, points: 5, part: public}\n"
    checks = CHECKS + CHECKS.split("\n\n\n")[1].replace("check_answer", "check_more")
    small = small_assignment(tmp_path / "course" / "1-small", YML + second, checks)
    first, again = graded(handed_in(tmp_path / "a", own__c=""), small).rows
    assert first.marks.reason.startswith("answers.yml")
    assert again.marks.reason == 'As in "The answer".'


def test_the_page_begins_with_a_table_of_all_checks_that_leads_to_each_and_has_figures_for_dark_screens(
    tmp_path: Path, small: Assignment
) -> None:
    text = page(graded(handed_in(tmp_path / "a", own__c="", answers__yml=right("s1")), small))
    assert '<a href="#answer">The answer</a></th><td>10</td><td>10</td>' in text
    assert ".plate { background: #16181c; }" in text


def test_the_folder_of_a_class_is_no_submission(tmp_path: Path) -> None:
    for student in ("s1", "s2"):
        handed_in(tmp_path / "all" / student, student)
    request = GradeRequest("1", (tmp_path / "all",), None, None, None, public=True, jobs=1, by_student=False)
    with pytest.raises(UserError, match=r"submission=.*all: must be one student's; for all 2: .*/all/\*"):
        grade_all(request, Console(quiet=True))


def test_folders_of_a_class_can_be_named_after_students(tmp_path: Path) -> None:
    one, other = (whole_class.folder_name(tmp_path / name, "s1") for name in ("a", "b"))
    assert one.startswith("s1-")
    assert other.startswith("s1-")
    assert one != other  # two submissions of one student
