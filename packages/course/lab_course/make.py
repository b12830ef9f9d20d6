# SPDX-License-Identifier: GPL-2.0-or-later
"""Cut what students get from the assignments: no teacher's part, no key, and each student's own seed."""

import csv
import gzip
import io
import os
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.base import paths
from lab.base.commit import git
from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE, read_plain, whole_file, write_whole
from lab.report.table_files import csv_of
from lab_course.assignment import COURSE, FILE, HANDOUT, LINKS, START, STUDENT, TEACHER, Assignment
from lab_course.seeds import hidden_seed, public_seed, require_id
from lab_course.submission import student_file

MAKEFILE = COURSE / "student.mk"
EVERYBODY = "everybody"  # the folder without a student's name
STUDENTS, PUBLIC_PART, SEEDS, LAB = "students", "course", "seeds.csv", "search-lab.tar.gz"
GRADER, GRADER_FILES = "grader", COURSE / "grader"
MOST_STUDENTS = 5000
HEADINGS = ("id", "sid", "student", "student_id", "name", "email", "username", "login")  # of a CSV's first column


def read_students(file: Path) -> list[str]:
    """Read one ID per line, or the first column of a CSV; UserError names the line of one that cannot be an ID."""
    try:
        text = read_plain(file, MEGABYTE).decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: must be UTF-8 text, one student's ID per line") from None
    rows = [(number, row[0].strip()) for number, row in enumerate(csv.reader(io.StringIO(text)), 1) if row]
    if rows and rows[0][1].lower() in HEADINGS:
        raise field_error(f"{file}:{rows[0][0]}", "student", rows[0][1], "an ID: leave out the line of headings")
    found = [require_id(name, f"{file}:{number}") for number, name in rows if name and not name.startswith("#")]
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice:
        raise field_error(file, "student", twice, "given once")
    if not 1 <= len(found) <= MOST_STUDENTS:
        raise field_error(file, "students", len(found), f"1 to {MOST_STUDENTS}, one ID per line")
    return found


def make(out: Path, assignments: Sequence[Assignment], students: Sequence[str]) -> Iterator[Path]:
    """Write a folder per student and assignment; yield each student's folder. Without students: one for everybody."""
    for student in students or [EVERYBODY]:
        folder = out / STUDENTS / student
        for assignment in assignments:
            _cut(assignment, folder / assignment.folder.name, student if students else None)
        yield folder


def _cut(assignment: Assignment, folder: Path, student: str | None) -> None:
    """Write one student's folder of one assignment; UserError where it exists, since it may hold their work."""
    if folder.exists():
        raise UserError(f"{folder}: must not exist: it may hold a student's work")
    for name in (START, HANDOUT):
        if not (assignment.folder / name).exists():
            raise UserError(f"{assignment.folder / name}: must be there: students get it")
    shutil.copytree(assignment.folder / START, folder, ignore=_ignored)
    for name, text in assignment.made().items():
        (folder / name).write_text(text)
    shutil.copyfile(assignment.folder / HANDOUT, folder / HANDOUT)
    shutil.copyfile(MAKEFILE, folder / "Makefile")
    if student is not None:
        write_whole(folder / STUDENT, student_file(assignment, student))
    public = folder / PUBLIC_PART
    public.mkdir()
    for file in [assignment.folder / FILE, *sorted(assignment.folder.glob("*.py"))]:
        shutil.copyfile(file, public / file.name)
    if (assignment.folder / LINKS).is_dir():
        shutil.copytree(assignment.folder / LINKS, public / LINKS, ignore=_ignored)


_ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", TEACHER)


def seeds_table(assignments: Sequence[Assignment], students: Sequence[str], key: bytes | None) -> str:
    """Return the semester's seeds: the public ones, and with a key the hidden ones, which no student may see."""
    header = ["student", "assignment", "public_seed", *(["hidden_seed"] if key else [])]
    return csv_of(header, (_seeds(each, student, key) for student in students for each in assignments))


def _seeds(assignment: Assignment, student: str, key: bytes | None) -> list[object]:
    hidden = [hidden_seed(key, assignment.name, student)] if key else []
    return [student, assignment.folder.name, public_seed(assignment.name, student), *hidden]


def write_seeds(file: Path, table: str) -> None:
    """Write the seeds so that only their owner can read them."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as stream:
        stream.write(table)


def write_lab(file: Path) -> None:
    """Write the lab's committed files without any teacher's part, for students; the same bytes from the same commit."""
    done = git("archive", "--format=tar", "--prefix=search-lab/", "HEAD")
    if done.returncode:
        raise UserError(f"{paths.REPO}: must be a git checkout: {done.stderr.decode(errors='replace').strip()}")
    with (
        tarfile.open(fileobj=io.BytesIO(done.stdout)) as source,
        whole_file(file) as packed,
        gzip.GzipFile("", "wb", 6, packed, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as sink,
    ):
        for member in source:
            if TEACHER not in Path(member.name).parts:
                sink.addfile(member, source.extractfile(member) if member.isreg() else None)


def write_grader(folder: Path, assignment: Assignment) -> None:
    """Write what a grading service needs of one assignment, without the key: the teacher adds that."""
    if folder.exists():
        raise UserError(f"{folder}: must not exist")
    shutil.copytree(GRADER_FILES, folder)
    shutil.copytree(assignment.folder, folder / "assignment", ignore=shutil.ignore_patterns("__pycache__"))
