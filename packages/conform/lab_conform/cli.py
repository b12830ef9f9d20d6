# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab conform`: reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import Jobs, console


def conform(
    sender: Annotated[str, typer.Argument(help="Senders, with commas between them; or files of your own (.c).")],
    suite: Annotated[str | None, typer.Option(help="The cases of one text, such as rfc9438; default: all.")] = None,
    case: Annotated[str | None, typer.Option(help="One case, by name or file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="A file for a CI's report of tests (JUnit).")] = None,
    json: Annotated[Path | None, typer.Option(help="A file for the verdicts as JSON.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the page; default: conform/ of the results.")] = None,
    jobs: Jobs = None,
) -> None:
    """Check whether a sender does what the text of a standard says; exit status 1 where a case fails.

    Example: `lab conform cubic --suite rfc9438`

    Your own: `lab conform ./mine.c --suite rfc5681-6928 --junit report.xml`
    """
    from lab.base.processes import processors
    from lab_conform.command import Request, answer

    answer(Request(sender, suite, case, junit, json, out, processors() if jobs is None else jobs), console)
