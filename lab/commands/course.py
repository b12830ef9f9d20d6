# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab course` commands: each reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole

app = typer.Typer(no_args_is_help=True, help="Assignments: students' folders, the teacher's key, checks of checks.")
console = PlainConsole()
Names = Annotated[str | None, typer.Option("--assignments", help="Numbers or names, a comma between; default: all.")]
KeyFile = Annotated[Path | None, typer.Option(help="The teacher's key.")]


@app.command("list")
def list_() -> None:
    """List the assignments: points, minutes, and whether the teacher's part is there.

    Example: `lab course list`
    """
    from lab.commands.assignments import listing

    console.print("\n".join(listing()), soft_wrap=True, markup=False)


@app.command()
def key(file: Annotated[Path, typer.Argument(help="The file to write; keep it, and never commit it.")]) -> None:
    """Make a key, which decides the hidden seeds of a semester.

    Example: `lab course key ~/search-lab-2027.key`
    """
    from lab.course.seeds import make_key

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
    from lab.commands.assignments import MakeRequest, make_course

    for line in make_course(MakeRequest(out, students, assignments, key, bundle)):
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
    from lab.commands.assignments import CheckRequest, check_course

    check_course(CheckRequest(assignments, cases, update, students, jobs), console)


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
    from lab.commands.leaderboard import rank

    rank(assignment, submissions, key, out, jobs, console)
