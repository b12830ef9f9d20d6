# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab grade` of a class, `lab course make`, and the grader of a service, as commands."""

import csv
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from lab_course.assignment import COURSE
from lab_course.make import EVERYBODY
from lab_course.seeds import hidden_seed, public_seed, read_key
from small_assignment import handed_in, small_assignment, zipped

from lab.base.paths import REPO
from tests.brief import folder_at, put
from tests.command import lab, lab_ok, refused

pytestmark = pytest.mark.usefixtures("kernel")


def answer(student: str) -> str:
    return f"x: {public_seed('small', student) % 100}\n"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_assignment(tmp_path / "course" / "41-small").folder


def grades(folder: Path) -> dict[str, dict[str, str]]:
    return {row["submission"]: row for row in csv.DictReader((folder / "grades.csv").read_text().splitlines())}


def test_a_class_is_graded_whatever_single_submissions_are(tmp_path: Path, course: Path) -> None:
    inbox = tmp_path / "in"
    good = handed_in(inbox / "good", "s1", own__c="", answers__yml=answer("s1"))
    again = handed_in(inbox / "again", "s1", own__c="", answers__yml="x: 1000\n")
    empty = folder_at(inbox / "empty")
    bomb = zipped(inbox / "bomb.zip", {"own.c": b"", "answers.yml": bytes(5_000_000)})
    (inbox / "broken.zip").write_bytes(b"PK broken")
    every = [str(path) for path in (good, again, empty, bomb, inbox / "broken.zip")]
    out = tmp_path / "grades"
    done = lab(tmp_path / "results", "grade", str(course), *every, "--out", str(out), "--jobs", "2")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    found = grades(out)
    assert {name: row["points"] for name, row in found.items()} == {
        "good": "10", "again": "0", "empty": "0", "bomb.zip": "0", "broken.zip": "",
    }  # fmt: skip
    assert found["good"]["note"].startswith("one of several submissions of this student")
    assert "answers.yml: bytes=5000000: must be at most 2000" in found["bomb.zip"]["note"]
    assert "must be a folder, .zip or .tar.gz, and whole" in found["broken.zip"]["note"]
    content = json.loads((out / found["good"]["folder"] / "results.json").read_text())
    assert (content["score"], content["extra_data"]["student"]) == (10, "s1")


def test_a_class_of_one_has_its_folder_named_after_the_student(tmp_path: Path, course: Path) -> None:
    only = handed_in(tmp_path / "in" / "upload", "s1", own__c="", answers__yml=answer("s1"))
    out = tmp_path / "grades"
    lab_ok(tmp_path / "results", "grade", str(course), str(only), "--by-student", "--out", str(out))
    assert grades(out)["upload"]["folder"].startswith("s1-")


def test_a_class_goes_on_where_it_ended(tmp_path: Path, course: Path) -> None:
    paths = [handed_in(tmp_path / "in" / who, who, own__c="", answers__yml=answer(who)) for who in ("s1", "s2")]
    cell = {"metadata": {"tags": ["answers"]}, "source": "answers = {'x': 1000}"}
    (paths[0] / "notebook.ipynb").write_text(json.dumps({"cells": [cell]}))
    words = ("grade", str(course), *map(str, paths), "--out", str(tmp_path / "grades"), "--jobs", "1")
    assert lab(tmp_path / "results", *words).returncode == 0
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "grades").glob("*/results.json")}
    first = grades(tmp_path / "grades")
    assert "x=1000: must be as in answers.yml: answers.yml alone is graded" in first["s1"]["note"]
    (paths[1] / "answers.yml").write_text("x: 1000\n")
    assert lab(tmp_path / "results", *words).returncode == 0
    after = {file: file.stat().st_mtime_ns for file in before}
    assert sum(before[file] == after[file] for file in before) == 1
    assert grades(tmp_path / "grades")["s1"] == first["s1"]
    assert {row["points"] for row in grades(tmp_path / "grades").values()} == {"10", "0"}


def test_students_folders_hold_nothing_of_the_teachers(tmp_path: Path, course: Path) -> None:
    key = tmp_path / "key"
    assert lab(tmp_path, "course", "key", str(key)).returncode == 0
    (tmp_path / "ids.txt").write_text("s1\ns2\n")
    out = tmp_path / "fall"
    words = ("--students", str(tmp_path / "ids.txt"), "--assignments", str(course), "--key", str(key))
    lab_ok(tmp_path, "course", "make", "--out", str(out), *words)
    own = {file.relative_to(out / "students" / "s1" / "41-small") for file in (out / "students" / "s1").rglob("*")}
    assert {"own.c", "handout.md", "Makefile", "student.yml", "course/checks.py"} <= {str(file) for file in own}
    held = b"".join(file.read_bytes() for file in (out / "students").rglob("*") if file.is_file())
    seed = hidden_seed(read_key(key), "small", "s1")
    for secret in (b"the secret solution", b"check_again", key.read_bytes().strip(), str(seed).encode()):
        assert secret not in held
    assert str(seed) in (out / "seeds.csv").read_text()
    assert (out / "seeds.csv").stat().st_mode & 0o077 == 0
    with tarfile.open(out / "search-lab.tar.gz") as archive:
        names = archive.getnames()
    assert "search-lab/scripts/lab" in names
    assert [name for name in names if "teacher" in name.split("/")] == []


def test_a_students_own_folder_is_graded_by_its_make(tmp_path: Path, course: Path) -> None:
    out = tmp_path / "fall"
    assert lab(tmp_path, "course", "make", "--out", str(out), "--assignments", str(course)).returncode == 0
    folder = out / "students" / EVERYBODY / "41-small"
    (folder / "answers.yml").write_text(answer("s5"))
    environment = os.environ | {"LAB_RESULTS": str(tmp_path / "results")}
    words = ["make", "-C", str(folder), "grade", "ID=s5", f"LAB_HOME={REPO}"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert "10 of 10 points" in done.stdout, done.stderr
    assert (folder / "grade" / "grade.html").is_file()
    (folder / "results").mkdir()
    (folder / "results" / "latest").symlink_to("run-1")
    assert subprocess.run([*words[:3], "hand-in"], capture_output=True, check=False).returncode == 0
    with tarfile.open(folder / "hand-in.tar.gz") as archive:
        names = set(archive.getnames())
    assert "./answers.yml" in names
    assert not {name.split("/")[1] for name in names if "/" in name} & {"results", "grade", "course", "hand-in.tar.gz"}


def test_the_grader_of_a_service_always_writes_its_result(tmp_path: Path, course: Path) -> None:
    root = tmp_path / "autograder"
    handed_in(root / "submission", "s1", own__c="", answers__yml=answer("s1"))
    (root / "assignment").symlink_to(course)
    (root / "submission_metadata.json").write_text('{"users": [{"sid": "s1", "email": "a@b.c"}]}')
    environment = os.environ | {"AUTOGRADER": str(root), "LAB_HOME": str(REPO)}
    script = str(COURSE / "grader" / "run_autograder")
    assert subprocess.run([script], env=environment, check=False).returncode == 0
    assert json.loads((root / "results" / "results.json").read_text())["score"] == 10
    (root / "submission").rename(root / "elsewhere")
    assert subprocess.run([script], env=environment, check=False, capture_output=True).returncode == 0
    content = json.loads((root / "results" / "results.json").read_text())
    assert content["score"] == 0
    assert "No such file or directory" in content["output"]


def test_a_wrong_request_is_refused_in_one_line(tmp_path: Path, course: Path) -> None:
    one = str(handed_in(tmp_path / "s1", own__c=""))
    key = put(tmp_path / "key", "short")
    assert "key: must be a key" in refused(lab(tmp_path, "grade", str(course), one, "--key", str(key)))
    assert "student=../x: must be letters" in refused(lab(tmp_path, "grade", str(course), one, "--student", "../x"))
    assert "assignment=99: must be" in refused(lab(tmp_path, "grade", "99", one))
    assert "must be a folder, .zip or .tar.gz" in refused(lab(tmp_path, "grade", str(course), str(tmp_path / "no")))
