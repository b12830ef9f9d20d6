# SPDX-License-Identifier: GPL-2.0-or-later
"""The assignments are whole: what a student gets, what a teacher gets, and notebooks that agree with themselves."""

import difflib
import json
import re
from pathlib import Path

import pytest
import yaml
from lab_course.answers import read_answers
from lab_course.assignment import ASSIGNMENTS, Assignment, assignments, load_assignment
from lab_course.make import make, read_students, seeds_table, write_grader
from lab_course.rehearse import EXPECTED, MISTAKES, Expected
from lab_course.seeds import hidden_seed, public_seed
from lab_course.submission import Submission
from small_assignment import small_assignment

from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.links.profile import read_profile
from lab.schema.load import load

FOLDERS = sorted(folder for name, folder in assignments().items() if name[0].isdigit())

NOTEBOOKS = sorted(file for folder in FOLDERS for file in folder.glob("start/*.py"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def assignment(request: pytest.FixtureRequest) -> Assignment:
    folder: Path = request.param
    return load_assignment(folder)


def test_an_assignment_has_a_handout_with_goals_background_tasks_time_and_points(assignment: Assignment) -> None:
    text = (assignment.folder / "handout.md").read_text()
    assert [
        name for name in ("Goals", "Background", "Tasks", "Hand in", "Points") if f"\n## {name}\n" not in text
    ] == []
    assert f"**Points**: {assignment.points}." in text


def test_every_check_of_the_rubric_has_its_function(assignment: Assignment) -> None:
    for part in ("public", "hidden"):
        assert set(assignment.checks(part)) == {row.id for row in assignment.rows(part)}


def test_every_file_to_hand_in_is_in_the_solution_or_optional(assignment: Assignment) -> None:
    solution = assignment.folder / "teacher" / "solution"
    required = [each.file for each in assignment.content.hand_in if each.required]
    assert [name for name in required if not (solution / name).is_file()] == []


def test_every_link_can_be_read(assignment: Assignment) -> None:
    for file in (*assignment.folder.glob("links/*.yml"), *assignment.folder.glob("teacher/links/*.yml")):
        assert read_profile(file).title


def test_at_least_six_typical_mistakes_state_their_points_and_what_the_feedback_names(assignment: Assignment) -> None:
    files = sorted((assignment.folder / "teacher" / MISTAKES).glob(f"*/{EXPECTED}"))
    assert len(files) >= 6
    for file in files:
        expected = load(Expected, file)
        assert expected.about, file
        assert expected.says, file
        assert expected.points or expected.total is not None, file


def test_the_teachers_notes_name_mistakes_lecture_and_variants(assignment: Assignment) -> None:
    text = (assignment.folder / "teacher" / "notes.md").read_text().lower()
    assert [word for word in ("lecture", "mistake", "variant") if word not in text] == []


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.parents[1].name)
def test_a_notebook_is_made_alike_each_time_defines_nothing_and_ends_in_the_cell_that_is_graded(file: Path) -> None:
    given = load_assignment(file.parents[1])
    made = given.made()
    assert made == given.made()
    assert not re.search(r"^\s*(def|class) ", file.read_text(), re.MULTILINE)
    cells = json.loads(made["notebook.ipynb"])["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells) > 10
    assert cells[-1]["metadata"]["tags"] == ["answers"]
    names = set(read_answers(Submission(Path("in"), "s1", {"notebook.ipynb": made["notebook.ipynb"].encode()})).values)
    mistake = file.parents[1] / "teacher" / "mistakes" / "capacity-at-the-first-loss" / "answers.yml"
    assert names == set(yaml.safe_load(mistake.read_text()))


@pytest.mark.parametrize("file", ["3-write-an-exit-rule/{}/hystartpp.c", "6-your-own-rule/{}/rule.c"])
def test_the_solution_is_the_starting_point_with_the_gaps_filled(file: str) -> None:
    """What a student gets, and what full points are shown with, are one frame: only stand-ins of the gaps may go."""
    start, solution = (
        (ASSIGNMENTS / file.format(part)).read_text().splitlines() for part in ("start", "teacher/solution")
    )
    gone = {line[2:].strip() for line in difflib.ndiff(start, solution) if line.startswith("- ")}
    assert gone <= {"return acked_pkts;", "return false;"}


def test_handout_and_teachers_page_state_the_minutes_of_the_assignment(assignment: Assignment) -> None:
    content = assignment.content
    handout = (assignment.folder / "handout.md").read_text()
    assert f"**Time**: {content.human_minutes} minutes of yours, {content.machine_minutes} of the machine." in handout
    assert f"**Points**: {assignment.points}." in handout
    teachers = (REPO / "docs" / "course" / "teachers.md").read_text()
    (row,) = re.findall(rf"^\| {assignment.number} .*$", teachers, flags=re.MULTILINE)
    assert row.endswith(f"| {content.human_minutes} |")


SHORT_BYTES = 200  # a file as short as that may be alike by chance


@pytest.fixture(scope="module")
def held() -> list[Assignment]:
    return [load_assignment(folder) for folder in assignments().values()]


def test_no_file_of_a_teacher_reaches_a_student(tmp_path: Path, held: list[Assignment]) -> None:
    (folder,) = make(tmp_path, held, ["s1"])
    given = {file.read_bytes(): file for file in folder.rglob("*") if file.is_file()}
    assert [file for file in folder.rglob("*") if "teacher" in file.relative_to(folder).parts] == []
    for each in held:
        secret = [file for file in (each.folder / "teacher").rglob("*") if file.is_file()]
        found = [given[file.read_bytes()] for file in secret if file.read_bytes() in given]
        assert [file for file in found if file.stat().st_size > SHORT_BYTES] == []


def test_a_students_folder_loads_as_an_assignment_without_a_hidden_part(tmp_path: Path, held: list[Assignment]) -> None:
    (folder,) = make(tmp_path, held, ["s1"])
    for each in held:
        cut = load_assignment(folder / each.folder.name / "course")
        assert not cut.has_teacher
        assert set(cut.checks("public")) == {row.id for row in each.rows("public")}
        assert (folder / each.folder.name / "handout.md").is_file()


def test_a_students_work_is_never_overwritten(tmp_path: Path, held: list[Assignment]) -> None:
    list(make(tmp_path, held[:1], ["s1"]))
    with pytest.raises(UserError, match="must not exist: it may hold a student's work"):
        list(make(tmp_path, held[:1], ["s1"]))


def test_the_seeds_of_a_semester_hold_hidden_ones_with_a_key_alone(tmp_path: Path) -> None:
    small = small_assignment(tmp_path / "1-small")
    key = 32 * b"k"
    assert seeds_table([small], ["s1"], None).splitlines()[1] == f"s1,1-small,{public_seed('small', 's1')}"
    assert seeds_table([small], ["s1"], key).splitlines()[1].endswith(f",{hidden_seed(key, 'small', 's1')}")


def test_a_grader_holds_the_teachers_part_and_no_key(tmp_path: Path) -> None:
    write_grader(tmp_path / "grader", small_assignment(tmp_path / "1-small"))
    names = {str(file.relative_to(tmp_path / "grader")) for file in (tmp_path / "grader").rglob("*")}
    assert {"Dockerfile", "run_autograder", "assignment/teacher/hidden.py"} <= names
    assert "key" not in names


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("s1\ns1\n", "student=s1: must be given once"),
        ("../x\n", r"ids:1: student=\.\./x: must be letters"),
        ("\nID,Name\ns1,Ada\n", "ids:2: student=ID: must be an ID: leave out the line of headings"),
        ("# nobody\n", "students=0: must be 1 to 5000"),
    ],
)
def test_a_list_of_students_is_refused_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "ids").write_text(text)
    with pytest.raises(UserError, match=line):
        read_students(tmp_path / "ids")


def test_ids_are_the_first_column_of_a_csv(tmp_path: Path) -> None:
    (tmp_path / "ids.csv").write_text("\ufeffs1,Ada\ns2,Bob\n")
    assert read_students(tmp_path / "ids.csv") == ["s1", "s2"]
