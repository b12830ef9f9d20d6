# SPDX-License-Identifier: GPL-2.0-or-later
"""What students get of the real assignments: nothing of the teacher's part, and all that grading needs."""

from pathlib import Path

import pytest
from lab_course.assignment import Assignment, assignments, load_assignment
from lab_course.make import make, read_students, seeds_table, write_grader
from lab_course.seeds import hidden_seed, public_seed
from small_assignment import small_assignment

from lab.base.errors import UserError

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
