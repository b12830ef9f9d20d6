# SPDX-License-Identifier: GPL-2.0-or-later
"""Does an assignment grade as its teacher says? The solution gets all points, the start few, each mistake its own.

A mistake is a folder of teacher/mistakes: expected.yml, and the files that were handed in; or, where `edits` are given,
the solution with these changes.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lab.backends.virtual import ensure_built
from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.base.plain_file import read_plain, write_whole
from lab.kernel.recipe import Recipe
from lab.schema.load import Real, Strict, load
from lab_course.assignment import HIDDEN, PUBLIC, START, TEACHER, Assignment, load_assignment, sibling
from lab_course.bench import Bench
from lab_course.forms import points as shown_points
from lab_course.forms import results
from lab_course.grade import Grade, grade
from lab_course.submission import Submission
from lab_course.work import Work

SOLUTION, ANSWER_KEY = "solution", "answer_key"
Files = Callable[[Work], dict[str, str]]
MISTAKES, EXPECTED, RESULTS = "mistakes", "expected.yml", "results.json"
STUDENT, KEY = "mistake", 32 * b"k"
FEW = 0.3  # of the points: what the starting point may get


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


class Edit(Strict):
    """A change of a solution's file: a text that stands there once, and what stands there instead."""

    file: str
    old: Annotated[str, Field(min_length=1)]
    new: str


class Expected(Strict):
    """expected.yml of a mistake: the points of each check, and phrases that the feedback must contain."""

    about: str = ""
    points: dict[str, Annotated[Real, Field(ge=0)]] = {}
    total: Annotated[Real, Field(ge=0)] | None = None
    says: dict[str, str | list[str]] = {}
    edits: list[Edit] = []
    of_solution: bool = False  # what does not lie beside expected.yml is the solution's


@dataclass(frozen=True)
class Case:
    """One submission of the teacher's; picklable, since another process grades it."""

    assignment: Path
    name: str  # solution, start, or the folder of a mistake
    bench: Bench
    update: bool = False  # write the solution's results.json instead of comparing with it
    student: str = STUDENT

    @property
    def title(self) -> str:
        """Name it in a line."""
        return self.name if self.student == STUDENT else f"{self.name} of {self.student}"


def cases(assignment: Assignment, bench: Bench, update: bool = False) -> list[Case]:
    """Return the solution, the start and each mistake of an assignment."""
    return [Case(assignment.folder, name, bench, update) for name in case_names(assignment)]


def solutions(assignment: Assignment, bench: Bench, students: int) -> list[Case]:
    """Return the solutions of so many students, who draw other links."""
    return [Case(assignment.folder, SOLUTION, bench, student=f"student-{number:02d}") for number in range(students)]


def case_names(assignment: Assignment) -> list[str]:
    """Name the solution, the start and each mistake."""
    mistakes = sorted(file.parent.name for file in (assignment.folder / TEACHER / MISTAKES).glob(f"*/{EXPECTED}"))
    return [SOLUTION, START, *mistakes]


def rehearse(case: Case) -> list[str]:
    """Grade a case; returns a line for each point in which the grade differs from what is expected."""
    assignment = load_assignment(case.assignment)
    where = f"{shown(assignment.folder)}: {case.title}"
    if case.student != STUDENT:
        graded = grade(assignment, solved(assignment, case.bench, case.student), case.bench, KEY)
        return [f"{where}: {fault}" for fault in _not_full(graded)]
    graded = grade(assignment, submission(assignment, case.name), case.bench, KEY)
    faults = [f"{where}: {row.check.id}: {row.marks.reason}" for row in graded.rows if row.broken]
    if case.name == SOLUTION:
        return faults + [f"{where}: {fault}" for fault in (*_not_full(graded), *_other_bytes(graded, case.update))]
    if case.name == START:
        few = graded.points <= FEW * graded.of
        return faults + (
            [] if few else [f"{where}: points={graded.points:g}: must be at most {FEW:.0%} of {graded.of}"]
        )
    expected = load(Expected, assignment.folder / TEACHER / MISTAKES / case.name / EXPECTED)
    return faults + [f"{where}: {fault}" for fault in _differences(graded, expected)]


def _not_full(graded: Grade) -> Iterator[str]:
    for row in graded.rows:
        if row.marks.share < 1:
            yield f"{row.check.id}={shown_points(row.points)}: must be {row.check.points}: {row.marks.reason}"


def _other_bytes(graded: Grade, update: bool) -> Iterator[str]:
    """Compare results.json of the solution with the stored one, which another machine wrote: byte for byte."""
    file, text = graded.assignment.folder / TEACHER / RESULTS, results(graded)
    if update:
        write_whole(file, text)
    elif file.exists() and file.read_text() != text:
        line = next(
            (own for own, other in zip(text.splitlines(), file.read_text().splitlines(), strict=False) if own != other),
            "",
        )
        yield f"{RESULTS}: must be that of {shown(file)}: {line.strip()}"


def _differences(graded: Grade, expected: Expected) -> Iterator[str]:
    rows = {row.check.id: row for row in graded.rows}
    for name in expected.points.keys() | expected.says.keys():
        if name not in rows:
            yield f"{name}: must be a check of the assignment"
    for name, row in rows.items():
        points = expected.points.get(name)
        if points is not None and row.points != points:
            yield f"{name}={shown_points(row.points)}: must be {points:g}: {row.marks.reason}"
        phrases = expected.says.get(name, [])
        for phrase in [phrases] if isinstance(phrases, str) else phrases:
            if phrase not in f"{row.marks.reason} {row.marks.where}":
                yield f"{name}: feedback: must contain '{phrase}': {row.marks.reason}"
    if expected.total is not None and graded.points != expected.total:
        yield f"total={shown_points(graded.points)}: must be {expected.total:g}"


def submission(assignment: Assignment, name: str) -> Submission:
    """Return the submission of a case."""
    teacher = assignment.folder / TEACHER
    if name == START:
        return begun(assignment, STUDENT)
    if name == SOLUTION:
        return handed_in(assignment, teacher / SOLUTION, STUDENT)
    folder = teacher / MISTAKES / name
    expected = load(Expected, folder / EXPECTED)
    own = handed_in(assignment, folder, STUDENT)
    if not (expected.edits or expected.of_solution):
        return own
    files = {**handed_in(assignment, teacher / SOLUTION, STUDENT).files, **own.files}
    for edit in expected.edits:
        text = files[edit.file].decode()
        if text.count(edit.old) != 1:
            raise field_error(shown(folder / EXPECTED), "edits.old", edit.old, f"a text that {edit.file} has once")
        files[edit.file] = text.replace(edit.old, edit.new).encode()
    return Submission(folder, STUDENT, files)
