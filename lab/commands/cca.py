# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab cca`: the senders."""

from typing import Annotated

import typer

from lab.base.command_line import COMMAND_LINE
from lab.base.console import PlainConsole

app = typer.Typer(no_args_is_help=True, help="The senders of lab/cca.yml.")
console = PlainConsole()


@app.command("list")
def list_() -> None:
    """List all senders: name, label, module, and what ends slow start.

    Example: `lab cca list`
    """
    from lab.schema.cca import load_senders
    from lab.senders.describe import rows

    console.print("\n".join(rows(load_senders())), soft_wrap=True, markup=False)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A sender's name (see `lab cca list`).")]) -> None:
    """Show a sender and its parameters as the kernel has them.

    Example: `lab cca show hystartpp`
    """
    from lab.commands.prepare import prepare
    from lab.kernel.recipe import Recipe
    from lab.schema.cca import load_cca
    from lab.senders.describe import lines

    cca = load_cca(name, COMMAND_LINE, "name")
    backend = prepare(Recipe(), console)
    described = lines(cca, backend.kernel, backend.world.root)
    console.print("\n".join(described), soft_wrap=True, markup=False)
