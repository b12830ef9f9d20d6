# SPDX-License-Identifier: GPL-2.0-or-later
"""The solution of one student: the teacher's files, and those that follow from the student's own draws.

An assignment whose answers differ by student has teacher/answer_key.py with `files(work)`: their texts by name.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lab.backends.virtual import ensure_built
from lab.base.plain_file import read_plain
from lab.kernel.recipe import Recipe
from lab_course.assignment import HIDDEN, PUBLIC, START, TEACHER, Assignment, load_assignment, sibling
from lab_course.bench import Bench
from lab_course.submission import Submission
from lab_course.work import Work

SOLUTION, ANSWER_KEY = "solution", "answer_key"
Files = Callable[[Work], dict[str, str]]


def handed_in(assignment: Assignment, folder: Path, student: str) -> Submission:
    """Return a folder of the teacher's as a submission."""
    wanted = [each for each in assignment.content.hand_in if (folder / each.file).is_file()]
    files = {each.file: read_plain(folder / each.file, each.most_bytes) for each in wanted}
    return Submission(folder, student, files)


def begun(assignment: Assignment, student: str) -> Submission:
    """Return the starting point as a submission."""
    given = handed_in(assignment, assignment.folder / START, student)
    wanted = {each.file for each in assignment.content.hand_in}
    made = {name: text.encode() for name, text in assignment.made().items() if name in wanted}
    return replace(given, files={**given.files, **made})


def solved(assignment: Assignment, bench: Bench, student: str) -> Submission:
    """Return the solution of a student."""
    work = _work(assignment, bench, student)
    teacher = assignment.folder / TEACHER
    if not (teacher / f"{ANSWER_KEY}.py").is_file():
        return work.submission
    own = sibling(str(teacher / HIDDEN), ANSWER_KEY).files(work)
    texts = {name: text.encode() for name, text in own.items()}
    return replace(work.submission, files={**work.submission.files, **texts})


def _work(assignment: Assignment, bench: Bench, student: str) -> Work:
    return Work(assignment, handed_in(assignment, assignment.folder / TEACHER / SOLUTION, student), bench, PUBLIC)


def show(file: str, files: Files) -> None:
    """Print the files of the student whose ID is the first argument: what an answer_key.py does as a program."""
    assignment = load_assignment(Path(file).resolve().parents[1])
    for name, text in files(_work(assignment, Bench.on(ensure_built(Recipe())), sys.argv[1])).items():
        print(f"# {name}\n{text}", end="")
