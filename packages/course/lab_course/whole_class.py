# SPDX-License-Identifier: GPL-2.0-or-later
"""Grade one submission, or a class: each by itself, side by side, and not again what was graded with the same input."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import typer
from rich.console import Console

from lab.base import strict_json
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.plain_file import read_plain, write_whole
from lab.base.plain_text import escaped_lines
from lab.base.scratch import scratch_folder
from lab.base.workers import results_or_lines
from lab.commands.prepare import prepare
from lab.judge.source import judging_digest
from lab.kernel.build import digest_of_files
from lab.kernel.recipe import Recipe
from lab.report.table_files import csv_of
from lab_course.assignment import STUDENT, Assignment, find_assignment, load_assignment
from lab_course.bench import Bench
from lab_course.forms import lines, page, points, results
from lab_course.grade import Grade, grade, parts_of, require_kept_apart
from lab_course.seeds import read_key, require_id
from lab_course.submission import Submission, open_submission, own_name

RESULTS, PAGE, TEXT, INPUT, TABLE = "results.json", "grade.html", "grade.txt", "input", "grades.csv"
MOST_RESULT_BYTES = 16_000_000
TWICE = "one of several submissions of this student"


@dataclass(frozen=True)
class Task:
    """One submission of a class; picklable, since another process grades it."""

    path: Path
    assignment: Path
    bench: Bench
    key: bytes | None
    out: Path
    student: str | None = None
    by_student: bool = False  # folders are named after students, not after submissions


@dataclass(frozen=True)
class Line:
    """What the class's table shows of one submission; `points` is null where it could not be graded."""

    submission: str
    student: str
    points: float | None
    of: int | None
    note: str
    folder: str

    @property
    def text(self) -> str:
        """Return the line of the terminal."""
        found = "not graded" if self.points is None else f"{points(self.points)} of {self.of} points"
        whose = f"{self.student}: " if self.student else ""
        return f"{self.submission}: {whose}{found}{f' ({self.note})' if self.note else ''}"


def grade_class(tasks: Sequence[Task], workers: int) -> Iterator[Line]:
    """Yield the line of each submission as it is graded; one that ends its process costs its own line."""
    for task, found in results_or_lines(attempt, tasks, workers):
        yield found if isinstance(found, Line) else Line(own_name(task.path), "", None, None, str(found), "")


def attempt(task: Task) -> Line:
    """Grade one submission and write its forms; what cannot be read at all is a line."""
    assignment = load_assignment(task.assignment)
    try:
        submission = open_submission(task.path, assignment, task.student)
    except UserError as error:
        return Line(own_name(task.path), "", None, None, str(error), "")
    folder = task.out / folder_name(task.path, submission.student if task.by_student else None)
    digest = input_digest(assignment, submission, task.bench, task.key)
    if (stored := _stored(folder, digest)) is None:
        graded = grade(assignment, submission, task.bench, task.key)
        (folder / INPUT).unlink(missing_ok=True)  # it names the results of before, whatever happens from here on
        write_forms(folder, graded)
        if graded.is_sound:
            write_whole(folder / INPUT, digest + "\n")
        stored = graded.points, graded.of, "; ".join(graded.faults)
    points, of, note = stored
    return Line(own_name(task.path), submission.student, points, of, note, folder.name)


def write_forms(folder: Path, graded: Grade) -> None:
    """Write a grade as a page, as text, and as a grading service reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PAGE, page(graded))
    write_whole(folder / TEXT, escaped_lines("\n".join(lines(graded)) + "\n"))
    write_whole(folder / RESULTS, results(graded))


def folder_name(path: Path, student: str | None = None) -> str:
    """Name the folder of a submission's grade, by its student or by its own name; a digest tells those alike apart."""
    own = Path(os.path.realpath(path))
    plain_name = "".join(each if each.isalnum() or each in "._-" else "_" for each in student or own.name)[:80]
    return f"{plain_name.lstrip('.') or 'submission'}-{hashlib.sha256(str(own).encode()).hexdigest()[:6]}"


def input_digest(assignment: Assignment, submission: Submission, bench: Bench, key: bytes | None) -> str:
    """Digest all that decides a grade: the submission, the assignment, the grader, the kernel and the key."""
    digest = hashlib.sha256()
    own = [file for file in sorted(assignment.folder.rglob("*")) if file.is_file() and "__pycache__" not in file.parts]
    for file in own:
        digest.update(str(file.relative_to(assignment.folder)).encode() + b"\0" + file.read_bytes())
    for name, content in sorted(submission.files.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    kernel = bench.virtual.kernel.described
    rest = [submission.student, submission.faults, kernel, code_digest(), parts_of(assignment, key)]
    digest.update(json.dumps(rest, sort_keys=True).encode() + (key or b""))
    return digest.hexdigest()


def _stored(folder: Path, digest: str) -> tuple[float, int, str] | None:
    """Return the points of an earlier grading of the same input."""
    try:
        if (folder / INPUT).read_text().strip() != digest:
            return None
        content = strict_json.loads(read_plain(folder / RESULTS, MOST_RESULT_BYTES))
        faults = [line[2:] for line in content["output"].splitlines() if line.startswith("! ")]
        return content["score"], content["extra_data"]["max_score"], "; ".join(faults)
    except (OSError, ValueError, KeyError, UserError):
        return None


def with_doubles(lines: Sequence[Line]) -> list[Line]:
    """Mark each submission of a student who has several: all are graded, and the teacher decides which counts."""
    count = Counter(line.student for line in lines if line.student)
    return [
        line if count[line.student] < 2 else Line(**{**vars(line), "note": "; ".join(filter(None, (TWICE, line.note)))})
        for line in lines
    ]


def table(lines: Sequence[Line]) -> str:
    """Return grades.csv, in the order of the students."""
    rows = (
        (one.student, None if one.points is None else points(one.points), one.of, one.submission, one.folder, one.note)
        for one in sorted(lines, key=lambda each: (each.student, each.submission))
    )
    return csv_of(["student", "points", "of", "submission", "folder", "note"], rows)


@cache
def code_digest() -> str:
    """Digest the grader and the code that judges: with another one a grade is made again."""
    return digest_of_files(sorted(Path(__file__).parent.rglob("*.py")), judging_digest())


@dataclass(frozen=True)
class GradeRequest:
    """What to grade, and how."""

    assignment: str
    submissions: tuple[Path, ...]
    student: str | None
    key: Path | None
    out: Path | None
    public: bool
    jobs: int
    by_student: bool


def grade_all(request: GradeRequest, console: Console) -> None:
    """Grade one submission, or a class; exit status 1 where a check failed by itself, or a submission has no grade."""
    assignment = find_assignment(request.assignment)
    key = read_key(request.key) if request.key and not request.public else None
    if key is not None and not assignment.has_teacher:
        raise field_error(COMMAND_LINE, "key", request.key, f"left out: {assignment.folder} has no teacher's part")
    require_kept_apart(assignment, key)
    if len(request.submissions) == 1:
        _require_one(request.submissions[0])
    if request.student:
        require_id(request.student, COMMAND_LINE)
        if len(request.submissions) > 1:
            raise field_error(COMMAND_LINE, "student", request.student, "left out where several submissions are graded")
    bench = Bench.on(prepare(Recipe(), console))
    if len(request.submissions) == 1 and not request.by_student:
        _one(assignment, request, bench, key, console)
    else:
        _class(assignment, request, bench, key, console)


def _require_one(path: Path) -> None:
    """Refuse a folder with the folders of a class, of which one student's work would be graded for all."""
    if path.is_dir() and not (path / STUDENT).exists():
        students = [each for each in path.iterdir() if (each / STUDENT).is_file()]
        if len(students) > 1:
            raise field_error(COMMAND_LINE, "submission", path, f"one student's; for all {len(students)}: {path / '*'}")


def _one(assignment: Assignment, request: GradeRequest, bench: Bench, key: bytes | None, console: Console) -> None:
    submission = open_submission(request.submissions[0], assignment, request.student)
    graded = grade(assignment, submission, bench, key, request.jobs)
    console.print("\n".join(lines(graded)), soft_wrap=True, markup=False)
    if request.out:
        write_forms(request.out, graded)
        console.print(f"page: {request.out / PAGE}", soft_wrap=True, markup=False)
    if not graded.is_sound:
        raise typer.Exit(1)


def _class(assignment: Assignment, request: GradeRequest, bench: Bench, key: bytes | None, console: Console) -> None:
    """Grade many; the table is written again after each one, so that a Ctrl-C loses nothing."""
    lines: list[Line] = []
    with _out(request.out) as out:
        tasks = [
            Task(path, assignment.folder, bench, key, out, request.student, request.by_student)
            for path in request.submissions
        ]
        for line in grade_class(tasks, request.jobs):
            lines.append(line)
            console.print(line.text, soft_wrap=True, markup=False)
            write_whole(out / TABLE, table(with_doubles(lines)))
        marked = with_doubles(lines)
        for line in marked:
            if line.note.startswith(TWICE):
                console.print(f"{line.submission}: {line.student}: {TWICE}: all are graded", markup=False)
    if request.out:
        console.print(f"table: {request.out / TABLE}", soft_wrap=True, markup=False)
    if any(line.points is None for line in lines):
        raise typer.Exit(1)


@contextmanager
def _out(folder: Path | None) -> Iterator[Path]:
    """Yield the folder of the grades: the user's, or one that goes away."""
    if folder is None:
        with scratch_folder() as temporary:
            yield temporary
        return
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
