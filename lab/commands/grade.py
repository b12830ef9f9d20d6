# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab grade`: one submission, or a class of them."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lab.base.plain_file import write_whole
from lab.commands.prepare import prepare
from lab.course.assignment import Assignment, find_assignment
from lab.course.bench import Bench
from lab.course.forms import gradescope, plain
from lab.course.grade import Grade, grade
from lab.course.seeds import read_key, require_id
from lab.course.submission import open_submission
from lab.kernel.recipe import Recipe

COMMAND_LINE = "command line"


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


def grade_all(request: GradeRequest, console: Console) -> None:
    """Grade, print and write."""
    assignment = find_assignment(request.assignment)
    key = read_key(request.key) if request.key and not request.public else None
    if request.student:
        require_id(request.student, COMMAND_LINE)
    bench = Bench.on(prepare(Recipe(), console))
    for path in request.submissions:
        _one(assignment, path, request, bench, key, console)


def _one(
    assignment: Assignment, path: Path, request: GradeRequest, bench: Bench, key: bytes | None, console: Console
) -> None:
    submission = open_submission(path, assignment, request.student)
    graded = grade(assignment, submission, bench, key, request.jobs)
    console.print("\n".join(plain.lines(graded)), soft_wrap=True, markup=False)
    if request.out:
        _write(request.out, graded)


def _write(folder: Path, graded: Grade) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "results.json", gradescope.results(graded))
    write_whole(folder / "grade.txt", "\n".join(plain.lines(graded)) + "\n")
