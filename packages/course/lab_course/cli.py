# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab grade` and the `lab course` commands: each reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import Jobs, console
from lab.commands.lines import show_rows

app = typer.Typer(no_args_is_help=True, help="Assignments: students' folders, the teacher's key, tests of the grader.")
Names = Annotated[str | None, typer.Option("--assignments", help="Numbers or names, a comma between; default: all.")]
KeyFile = Annotated[Path | None, typer.Option(help="The teacher's key.")]


@app.command("list")
def list_() -> None:
    """List the assignments: points, minutes, and whether the teacher's part is there.

    Example: `lab course list`
    """
    from lab_course.course_commands import listing

    show_rows(console, listing())


@app.command()
def key(file: Annotated[Path, typer.Argument(help="The file to write; keep it, and never commit it.")]) -> None:
    """Make a key, which decides the hidden seeds of a semester.

    Example: `lab course key ~/search-lab-2027.key`
    """
    from lab_course.seeds import make_key

    make_key(file)
    console.print(f"{file}: keep it: every hidden seed follows from it", soft_wrap=True, markup=False)


@app.command()
def make(
    out: Annotated[Path, typer.Option(help="A new folder.")],
    students: Annotated[Path | None, typer.Option(help="One ID per line, or a CSV with IDs in its first column.")] = (
        None
    ),
    assignments: Names = None,
    key: KeyFile = None,
    bundle: Annotated[
        bool, typer.Option("--bundle", help="Also the offline bundle, with recordings, wheels and JupyterLab.")
    ] = False,
) -> None:
    """Write students' folders, the lab without solutions, the graders of a grading service, and the seeds.

    Example: `lab course make --out fall --students ids.txt --key KEY`
    """
    from lab_course.course_commands import make_course

    for line in make_course(out, students, assignments, key, bundle):
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def check(
    assignments: Names = None,
    cases: Annotated[str | None, typer.Option(help="Only cases of these names: solution, start, or mistakes.")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Store the solutions' results.json, which any machine must then write.")
    ] = False,
    students: Annotated[int, typer.Option(min=0, max=100, help="Also the solutions of so many students.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Cases at the same time; default: one per processor.")] = None,
) -> None:
    """Grade solutions, starting points and mistakes, and compare with what their teacher expects.

    Example: `lab course check --assignments 3 --students 10`
    """
    from lab_course.course_commands import check_course

    check_course(assignments, cases, update, students, jobs, console)


@app.command()
def leaderboard(
    assignment: Annotated[str, typer.Argument(help="An assignment with a leaderboard, such as 6.")],
    submissions: Annotated[list[Path], typer.Argument(help="Folders, .zip or .tar.gz: one submission each.")],
    key: Annotated[Path, typer.Option(help="The teacher's key.")],
    out: Annotated[Path | None, typer.Option(help="A folder for leaderboard.csv.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Trials at the same time; default: one per processor.")] = None,
) -> None:
    """Rank submissions over the hidden links, with paired statistics.

    Example: `lab course leaderboard 6 submissions/* --key KEY --out board`
    """
    from lab_course.leaderboard import rank

    rank(assignment, submissions, key, out, jobs, console)


def grade(
    assignment: Annotated[str, typer.Argument(help="An assignment's number or name, or the path of its folder.")],
    submissions: Annotated[list[Path], typer.Argument(help="Folders, .zip or .tar.gz: one submission each.")],
    student: Annotated[str | None, typer.Option(help="The student's ID; default: that of student.yml.")] = None,
    key: Annotated[Path | None, typer.Option(help="The teacher's key: grades the hidden part, too.")] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for results.json, the page and the text.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Grade the public part only.")] = False,
    by_student: Annotated[bool, typer.Option("--by-student", help="Name folders after students.")] = False,
    jobs: Jobs = None,
) -> None:
    """Grade submissions of an assignment of the course.

    Example: `lab grade 3 my-folder`

    A class, with the hidden part: `lab grade 3 submissions/* --key KEY --out grades`
    """
    from lab.base.processes import processors
    from lab_course.whole_class import GradeRequest, grade_all

    workers = processors() if jobs is None else jobs
    request = GradeRequest(assignment, tuple(submissions), student, key, out, public, workers, by_student)
    grade_all(request, console)
