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


@app.command()
def agree(
    scenario: Annotated[
        str, typer.Argument(help="A scenario with runs on several backends or engines.")
    ] = "engines-agree",
) -> None:
    """Compare the latest runs of a scenario by backend and engine.

    Example: `lab agree engines-agree`
    """
    from lab.base import paths
    from lab.report import agree as places
    from lab.report.text import shown
    from lab.schema.scenario import load_scenario

    name, loaded = load_scenario(scenario)
    runs = places.latest(paths.results() / name)
    compared = [places.place_run(run, places.judged_by(run, loaded.heuristic)) for run in runs]
    console.print(shown((), (places.table(compared),), console.width))
