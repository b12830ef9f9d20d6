# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab course list`, `make` and `check`."""

import os
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.console import Console

from lab.base.choice import names
from lab.base.errors import UserError
from lab.base.format import counted
from lab.base.processes import processors
from lab.base.scratch import scratch_folder
from lab.base.workers import results_or_lines
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab_course import make as cut
from lab_course.assignment import Assignment, assignments, find_assignment, load_assignment
from lab_course.bench import Bench
from lab_course.rehearse import Case, cases, rehearse, solutions
from lab_course.seeds import read_key

BUNDLE = "search-lab.bundle"


def chosen(names: str | None) -> list[Assignment]:
    """Return assignments by number or name; all without names."""
    if names is None:
        return [load_assignment(folder) for folder in assignments().values()]
    return [find_assignment(name.strip()) for name in names.split(",")]


def listing() -> Iterator[tuple[str, str]]:
    """Yield each assignment's name and title, then its points and minutes."""
    for each in chosen(None):
        content = each.content
        teacher = "" if each.has_teacher else ", without the teacher's part"
        yield each.folder.name, content.title
        minutes = f"{content.human_minutes} min of a student, {content.machine_minutes} of a machine"
        yield "", f"{each.points} points, {minutes}{teacher}"


def make_course(
    out: Path, students_file: Path | None, names: str | None, key_file: Path | None, bundle: bool
) -> Iterator[str]:
    """Write everything; yield a line per part."""
    held = chosen(names)
    students = cut.read_students(students_file) if students_file else []
    key = read_key(key_file) if key_file else None
    if key and not students:
        raise UserError("command line: key: must be used with --students: seeds are a student's")
    out.mkdir(parents=True, exist_ok=True)
    with scratch_folder(out) as draft:
        if [*out.iterdir()] != [draft.parent]:
            raise UserError(f"{out}: must be a new or empty folder")
        parts = [*_parts(draft, held, students, key)]
        for whole in draft.iterdir():
            whole.rename(out / whole.name)
    for part, about in parts:
        yield f"{out / part}: {about}"
    if bundle:
        yield _bundle(out / BUNDLE)


def _parts(out: Path, held: list[Assignment], students: list[str], key: bytes | None) -> Iterator[tuple[str, str]]:
    """Write each part in a folder; yield its name, and a line about it."""
    count = sum(1 for _ in cut.make(out, held, students))
    yield cut.STUDENTS, f"{counted(count, 'folder')} of {counted(len(held), 'assignment')}"
    if students:
        cut.write_seeds(out / cut.SEEDS, cut.seeds_table(held, students, key))
        yield cut.SEEDS, f"{'public and hidden' if key else 'public'} seeds: for the teacher only"
    for each in held:
        if each.has_teacher:
            cut.write_grader(out / cut.GRADER / each.folder.name, each)
    yield cut.GRADER, "graders of a grading service: for the teacher only (docs/course/grading.md)"
    cut.write_lab(out / cut.LAB)
    yield cut.LAB, "the lab without solutions and hidden links"


def _bundle(file: Path) -> str:
    import platform

    from lab_bundle.make import make

    make(file, True, ".".join(platform.python_version_tuple()[:2]), jupyter=True)
    return f"{file}: {file.stat().st_size / 1e6:.0f} MB: for students without network (docs/bundle.md)"


def check_course(
    assignments: str | None, only: str | None, update: bool, students: int, jobs: int | None, console: Console
) -> None:
    """Rehearse every case, and print a line for each; exit status 1 where a grade differs."""
    bench = Bench.on(prepare(Recipe(), console))
    tasks = [each for each in _cases(assignments, bench, update, students) if only is None or each.name in names(only)]
    if not tasks:
        raise UserError(f"command line: cases={only}: must be solution, start or a mistake of the assignment")
    failed = 0
    for case, found in results_or_lines(_timed, tasks, processors() if jobs is None else jobs):
        lines, processor_s = ([found], 0.0) if isinstance(found, str) else found
        failed += bool(lines)
        verdict = "as expected" if not lines else "NOT as expected"
        console.print(
            f"{case.assignment.name}: {case.title}: {verdict}, {processor_s:.0f} s of the grader's processor time",
            soft_wrap=True,
            markup=False,
        )
        if lines:
            console.print("\n".join(lines), soft_wrap=True, markup=False)
    console.print(f"{len(tasks) - failed} of {len(tasks)} as expected", markup=False)
    if failed:
        raise typer.Exit(1)


def _cases(assignments: str | None, bench: Bench, update: bool, students: int) -> Iterator[Case]:
    for assignment in chosen(assignments):
        if assignment.has_teacher:
            yield from cases(assignment, bench, update)
            yield from solutions(assignment, bench, students)


def _timed(case: Case) -> tuple[list[str], float]:
    """Return the faults of a case, and the processor time of this process and of all that it has waited for."""
    before = sum(os.times()[:4])
    return rehearse(case), sum(os.times()[:4]) - before
