# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that run no trial: what is stored, what the lab has, and what this machine lacks, caches and builds."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import FigureForms, KernelSource, KernelVersion, Verbose, console
from lab.commands.known import require_run
from lab.commands.lines import say, show_rows
from lab.kernel.versions import DEFAULT

app = typer.Typer()
kernel_app = typer.Typer(no_args_is_help=True, help="The virtual-time kernel and the sender modules.")


@app.command()
def report(
    folder: Annotated[
        Path | None, typer.Argument(help="A run's folder, or a scenario for its latest run; default: geo.")
    ] = None,
    forms: FigureForms = None,
    verbose: Verbose = False,
) -> None:
    """Show a stored run's answer, and write its tables, figures and page.

    Example: `lab report geo --format pdf`
    """
    run = require_run(folder or "geo")
    from lab.commands.report import forms_of
    from lab.commands.report import report as write

    write(run, console, forms_of(forms), verbose)


@app.command("list")
def list_(
    kind: Annotated[
        str | None, typer.Argument(help="scenarios, profiles, topologies or senders: each with a line.")
    ] = None,
) -> None:
    """List the names of all scenarios, profiles, topologies and senders.

    Example: `lab list`, or with what each is: `lab list scenarios`
    """
    from rich.padding import Padding

    from lab.commands.inventory import described, names_by_kind

    if kind is None:
        for each, names in names_by_kind().items():
            console.print(f"{each} (lab list {each})", markup=False)
            console.print(Padding("  ".join(names), (0, 0, 1, 2)), markup=False)
        return
    show_rows(console, described(kind))


@app.command()
def check() -> None:
    """Load all scenarios, profiles, topologies and senders, and report faults.

    Example: `lab check`
    """
    from lab.commands.inventory import check_all

    say(console, *check_all())


@app.command()
def doctor() -> None:
    """Report what is missing on this machine, and the command that fixes it.

    Example: `lab doctor`
    """
    from lab.commands.doctor import examine

    findings = examine()
    for finding in findings:
        say(console, finding.line())
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command()
def clean(
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove kernels and images: the next run builds them.")
    ] = False,
) -> None:
    """Remove unfinished trials, the inner runs of lab whatif and other leftovers; results stay.

    Example: `lab clean`
    """
    from lab.commands.clean import tidy

    for removed in tidy(cache):
        console.print(f"removed {removed}", soft_wrap=True, markup=False)


@kernel_app.command()
def build(
    kernel: KernelVersion = DEFAULT,
    source: KernelSource = None,
    sanitize: Annotated[bool, typer.Option("--sanitize", help="Build with the kernel's bug checkers: slow.")] = False,
) -> None:
    """Build the virtual-time kernel and the modules that the cache lacks.

    Example: `lab kernel build`
    """
    from lab.commands.prepare import prepare
    from lab.kernel.recipe import Recipe

    virtual = prepare(Recipe(kernel, source, sanitize), console)
    lines = [f"kernel   {virtual.kernel.linux}", f"modules  {virtual.kernel.modules}", f"world    {virtual.world.root}"]
    console.print("\n".join(lines), soft_wrap=True, markup=False)
