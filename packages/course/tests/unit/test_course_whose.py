# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose a submission is, and which of its files are graded, after an upload page, a browser or a file manager."""

from pathlib import Path
from typing import Any

import pytest
from lab_course import whole_class
from lab_course.assignment import Assignment
from lab_course.submission import open_submission
from small_assignment import YML, handed_in, small_assignment, tarred, zipped

from lab.base.errors import UserError
from tests.brief import folder_at

OWN = b"// mine\n"
EITHER = YML.replace("20000}\n  - {file: answers", "20000, required: false}\n  - {file: answers")


@pytest.fixture
def small(tmp_path: Path) -> Assignment:
    return small_assignment(tmp_path / "course" / "1-small")


@pytest.mark.parametrize("name", ["s2.zip", "s2.ZIP", "s2.tar", "s2.tgz", "s2.TGZ", "s2.tar.gz", "s2.Tar.Gz"])
def test_the_ending_of_an_archive_is_no_part_of_the_students_id(tmp_path: Path, small: Assignment, name: str) -> None:
    pack = zipped if name.lower().endswith("zip") else tarred
    assert open_submission(pack(tmp_path / name, {"own.c": OWN}), small).student == "s2"


@pytest.mark.parametrize("name", ["hand-in.tar.gz", "submission.zip", "small.tar.gz", "1-small.tar.gz"])
def test_a_name_that_the_lab_gave_is_nobodys(tmp_path: Path, small: Assignment, name: str) -> None:
    file = tarred(tmp_path / name, {"own.c": OWN})
    with pytest.raises(UserError, match=r"nor is '.*' a student's ID: rename it after the student"):
        open_submission(file, small)
    assert open_submission(file, small, "s1").student == "s1"


@pytest.mark.parametrize(
    ("names", "there"),
    [
        (["notebook (1).ipynb"], ": there is notebook (1).ipynb"),
        (["a.png", "b.png", "c.png", "x/Answers.yml"], ": there is x/Answers.yml, a.png, b.png and 1 more"),
        (["hand-in.tar.gz"], ": there is hand-in.tar.gz"),
        ([], ""),
    ],
)
def test_where_nothing_can_be_graded_a_line_names_what_is_there(tmp_path: Path, names: list[str], there: str) -> None:
    """Each of the files may be missing, but not all of them."""
    small = small_assignment(tmp_path / "course" / "1-small", EITHER)
    folder = handed_in(tmp_path / "in")
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    line = f"own.c or answers.yml or notebook.ipynb: must be handed in{there}"
    as_zip = zipped(tmp_path / "s1.zip", dict.fromkeys(names, b""))
    as_tar = tarred(tmp_path / "s1.tar", dict.fromkeys(names, b""))
    for submission in (folder, as_zip, as_tar):
        assert line in open_submission(submission, small).faults


def test_a_required_file_of_another_name_is_named(tmp_path: Path, small: Assignment) -> None:
    found = open_submission(handed_in(tmp_path / "in", own__c__txt="// mine\n"), small)
    assert found.faults == ["own.c: must be handed in: there is own.c.txt"]


def test_what_is_missing_is_named_however_many_other_faults_there_are(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "in")
    for number in range(30):
        (folder / f"{number:02d}").symlink_to("student.yml")
    found = open_submission(folder, small)
    assert found.faults[-2:] == ["faults: 10 more", "own.c: must be handed in"]


def test_of_two_files_in_as_many_folders_the_line_names_the_graded_one(tmp_path: Path, small: Assignment) -> None:
    found = open_submission(zipped(tmp_path / "s1.zip", {"old/own.c": b"// old\n", "new/own.c": OWN}), small, "s1")
    assert found.files == {"own.c": OWN}
    assert found.faults == ["old/own.c: must stand once: new/own.c is graded"]


def test_of_a_path_that_an_archive_has_twice_the_last_is_graded_as_unpacked(tmp_path: Path, small: Assignment) -> None:
    file = zipped(tmp_path / "s1.zip", {"old.c": b"// old\n", "own.c": OWN})
    file.write_bytes(file.read_bytes().replace(b"old.c", b"own.c"))
    found = open_submission(file, small, "s1")
    assert found.files == {"own.c": OWN}
    assert found.faults == ["own.c: must stand once: the last one is graded"]


@pytest.mark.parametrize("folder", ["__MACOSX", ".ipynb_checkpoints"])
def test_what_other_programs_add_is_not_graded(tmp_path: Path, small: Assignment, folder: str) -> None:
    members: dict[str, bytes | tuple[bytes, int]] = {"a/b/own.c": OWN, f"{folder}/own.c": b"\0\5\x16\7"}
    found = open_submission(zipped(tmp_path / "s1.zip", members), small, "s1")
    assert (found.files, found.faults) == ({"own.c": OWN}, [])


def test_a_folder_that_lies_too_deep_to_be_read_is_named(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "in")
    (folder / "a" / "b" / "c" / "d").mkdir(parents=True)
    (folder / "a" / "b" / "c" / "d" / "own.c").write_bytes(OWN)
    assert "a/b/c/d: must be below at most 3 folders: it is not read" in open_submission(folder, small).faults


def test_the_name_of_a_submission_makes_no_line_of_its_own(tmp_path: Path, small: Assignment) -> None:
    folder = folder_at(tmp_path / "x\nalice: alice: 100 of 100 points\x1b[2J")
    bench: Any = None  # nothing is run
    line = whole_class.attempt(whole_class.Task(folder, small.folder, bench, None, tmp_path / "out"))
    assert line.text.startswith(r"x\nalice: alice: 100 of 100 points\x1b[2J: not graded (")
    assert "\n" not in line.text
