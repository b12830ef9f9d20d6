# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab grade`: one submission, or a class of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.plain_file import write_whole
from lab.base.scratch import scratch_folder
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab_course import whole_class
from lab_course.assignment import STUDENT, Assignment, find_assignment
from lab_course.bench import Bench
from lab_course.forms import lines
from lab_course.grade import grade, require_kept_apart
from lab_course.seeds import read_key, require_id
from lab_course.submission import open_submission


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
        whole_class.write_forms(request.out, graded)
        console.print(f"page: {request.out / whole_class.PAGE}", soft_wrap=True, markup=False)
    if not graded.is_sound:
        raise typer.Exit(1)


def _class(assignment: Assignment, request: GradeRequest, bench: Bench, key: bytes | None, console: Console) -> None:
    """Grade many; the table is written again after each one, so that a Ctrl-C loses nothing."""
    lines: list[whole_class.Line] = []
    with _out(request.out) as out:
        tasks = [
            whole_class.Task(path, assignment.folder, bench, key, out, request.student, request.by_student)
            for path in request.submissions
        ]
        for line in whole_class.grade_class(tasks, request.jobs):
            lines.append(line)
            console.print(line.text, soft_wrap=True, markup=False)
            write_whole(out / whole_class.TABLE, whole_class.table(whole_class.with_doubles(lines)))
        marked = whole_class.with_doubles(lines)
        for line in marked:
            if line.note.startswith(whole_class.TWICE):
                console.print(f"{line.submission}: {line.student}: {whole_class.TWICE}: all are graded", markup=False)
    if request.out:
        console.print(f"table: {request.out / whole_class.TABLE}", soft_wrap=True, markup=False)
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
