# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands about what the lab has, and what this machine lacks."""

from typing import Annotated

import typer

from lab.commands.cli_options import console
from lab.commands.lines import say

app = typer.Typer()


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
    from rich.table import Table
    from rich.text import Text

    from lab.base.plain_text import escaped
    from lab.commands.inventory import described, names_by_kind

    if kind is None:
        for each, names in names_by_kind().items():
            console.print(f"{each} (lab list {each})", markup=False)
            console.print(Padding("  ".join(names), (0, 0, 1, 2)), markup=False)
        return
    table = Table.grid(padding=(0, 2))
    for row in described(kind):
        table.add_row(*map(Text, map(escaped, row)))
    console.print(table, markup=False)


@app.command("data-dictionary")
def data_dictionary() -> None:
    """Print every file, column and field of a result, as Markdown.

    Example: `lab data-dictionary`
    """
    from lab.commands.data_dictionary import lines

    say(console, "\n".join(lines()))


@app.command()
def check() -> None:
    """Load all scenarios, profiles, topologies and senders, and report faults.

    Example: `lab check`
    """
    from lab.commands.inventory import check_all

    say(console, "\n".join(check_all()))


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
