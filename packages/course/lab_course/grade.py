# SPDX-License-Identifier: GPL-2.0-or-later
"""Grade one submission: each check by itself, so that what one meets costs its own points only."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from lab.base import sandbox_mode
from lab.base.errors import UserError, one_line
from lab_course.answers import passed_over
from lab_course.assignment import HIDDEN_PART, PUBLIC, Assignment, Check, CheckRow
from lab_course.bench import Bench
from lab_course.marks import Marks, none
from lab_course.submission import Submission
from lab_course.work import Work

GRADERS_FAULT = "the grader's own fault, not the submission's: tell the teacher"


@dataclass(frozen=True)
class Row:
    """One check with its marks; `broken` where the check itself failed."""

    check: CheckRow
    marks: Marks
    broken: bool = False

    @property
    def points(self) -> float:
        """Return the points, to a hundredth."""
        return round(self.marks.share * self.check.points, 2)


@dataclass(frozen=True)
class Grade:
    """The grade of one submission."""

    assignment: Assignment
    student: str
    rows: tuple[Row, ...]
    faults: tuple[str, ...]  # of the submission: what was not read

    @property
    def points(self) -> float:
        return round(sum(row.points for row in self.rows), 2)

    @property
    def of(self) -> int:
        return sum(row.check.points for row in self.rows)

    @property
    def is_sound(self) -> bool:
        """Return whether no check failed by itself."""
        return not any(row.broken for row in self.rows)


def parts_of(assignment: Assignment, key: bytes | None) -> tuple[str, ...]:
    """Return the parts to grade: without a key, or without the teacher's folder, the public one."""
    return (PUBLIC, HIDDEN_PART) if key is not None and assignment.has_teacher else (PUBLIC,)


def require_kept_apart(assignment: Assignment, key: bytes | None) -> None:
    """Refuse to grade hidden parts where a student's module shares the grader's processes and files.

    Without bubblewrap, system calls that a module hides from the list of symbols reach what the grader's user may.
    """
    if key is not None and assignment.runs_code and sandbox_mode.mode() == sandbox_mode.NONE:
        raise UserError(
            f"{sandbox_mode.VARIABLE}={sandbox_mode.NONE}: hidden checks of {assignment.name} run students' modules: "
            "must be bubblewrap: allow user namespaces here, or leave out the key and grade the public part"
        )


def grade(
    assignment: Assignment, submission: Submission, bench: Bench, key: bytes | None = None, jobs: int = 1
) -> Grade:
    """Run every check; UserError only where the assignment itself is faulty."""
    tasks = list(_tasks(assignment, submission, bench, key))
    with ThreadPoolExecutor(max_workers=jobs) as threads:
        rows = _confirmed(list(threads.map(lambda task: marked(*task), tasks)))
    return Grade(assignment, submission.student, tuple(_once(rows)), (*submission.faults, *passed_over(submission)))


def _confirmed(rows: list[Row]) -> list[Row]:
    """Take the points of a public check whose hidden twin has none: it passes on these draws of its links alone."""
    found = {row.check.id: row.marks for row in rows}
    return [replace(row, marks=_within(row, found.get(row.check.confirmed_by or ""))) for row in rows]


def _once(rows: list[Row]) -> Iterator[Row]:
    """Let a check that failed by the same reason as one before it name that check: one message instead of many."""
    first: dict[tuple[str, str], str] = {}
    for row in rows:
        title = first.setdefault((row.check.part, row.marks.reason), row.check.title)
        again = row.marks.share == 0 and title != row.check.title
        yield replace(row, marks=replace(row.marks, reason=f'As in "{title}".')) if again else row


def _within(row: Row, twin: Marks | None) -> Marks:
    """Return a check's marks: at most the share that the hidden twin states for it, or none where that has none."""
    if twin is None:
        return row.marks
    most = twin.confirms.get(row.check.id, float(twin.share > 0))
    if row.marks.share <= most:
        return row.marks
    has = "it passes here, and has none" if most == 0 else f"it has more here than the {most:.0%} that it has"
    points = "No points" if most == 0 else "Fewer points"
    line = f"{points}: {has} in the hidden check {row.check.confirmed_by}. {row.marks.reason}"
    return replace(row.marks, share=most, reason=line)


def _tasks(
    assignment: Assignment, submission: Submission, bench: Bench, key: bytes | None
) -> Iterator[tuple[CheckRow, Check, Work]]:
    for part in parts_of(assignment, key):
        checks = assignment.checks(part)
        work = Work(assignment, submission, bench, part, key)
        for row in assignment.rows(part):
            yield row, checks[row.id], work


def marked(row: CheckRow, check: Check, work: Work) -> Row:
    """Run one check; whatever it meets costs its own points."""
    try:
        marks = check(work)
        if not isinstance(marks, Marks):
            raise TypeError(f"{row.id}: must return Marks")
    except UserError as error:
        return Row(row, none(str(error)))
    except Exception as error:  # a fault of the check, which the submission may have met: no points, and a line
        line = one_line(f"{row.id}: {type(error).__name__}: {error}: {GRADERS_FAULT}")
        return Row(row, none(line), broken=True)
    return Row(row, marks)
