# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that grades."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import Jobs, console

app = typer.Typer()


@app.command()
def grade(
    assignment: Annotated[str, typer.Argument(help="An assignment's number or name, or the path of its folder.")],
    submissions: Annotated[list[Path], typer.Argument(help="Folders, .zip or .tar.gz: one submission each.")],
    student: Annotated[str | None, typer.Option(help="The student's ID; default: that of student.yml.")] = None,
    key: Annotated[Path | None, typer.Option(help="The teacher's key: grades the hidden part, too.")] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for results.json, the page and the text.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Grade the public part only.")] = False,
    jobs: Jobs = None,
) -> None:
    """Grade submissions of an assignment of the course.

    Example: `lab grade 3 my-folder`

    A class, with the hidden part: `lab grade 3 submissions/* --key KEY --out grades`
    """
    from lab.commands.grade import GradeRequest, grade_all
    from lab.runs.options import cores

    request = GradeRequest(assignment, tuple(submissions), student, key, out, public, cores() if jobs is None else jobs)
    grade_all(request, console)
