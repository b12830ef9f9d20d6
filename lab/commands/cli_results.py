# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that show, judge and publish stored runs."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import FigureForms, Verbose, console
from lab.commands.known import require_run

app = typer.Typer()


@app.command()
def report(
    folder: Annotated[Path | None, typer.Argument(help="A run's folder; default: the latest run of geo.")] = None,
    forms: FigureForms = None,
    verbose: Verbose = False,
) -> None:
    """Show a stored run's answer, and write its tables, figures and page.

    Example: `lab report results/geo/latest --format pdf`
    """
    from lab.base import paths

    run = require_run(folder or paths.results() / "geo" / "latest")
    from lab.commands.report import forms_of
    from lab.commands.report import report as write

    write(run, console, forms_of(forms), verbose)
