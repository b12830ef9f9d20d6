# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders`: visitors, which are senders that others wrote."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="Senders that others wrote: fetched, built, compared with the lab's.")
console = Console(highlight=False)


@app.command("list")
def list_() -> None:
    """List visitors: label, licence, fetched or not, their slow start, and what those need that cannot be built.

    Example: `lab senders list`
    """
    from lab.commands.visitors import listing

    console.print("\n".join(listing()), soft_wrap=True, markup=False)


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Visitors by name, or quinn: the crates of the senders over QUIC.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every visitor that has a licence.")] = False,
    mirror: Annotated[Path | None, typer.Option(help="A folder with the files, instead of their origins.")] = None,
) -> None:
    """Fetch and verify the code of visitors, and show its licence.

    Example: `lab senders fetch pcc_vivace`
    """
    from lab.commands.visitors import fetched
    from lab.traces.candidates import Mirror

    for line in fetched(names or [], everything, Mirror(mirror) if mirror else None):
        console.print(line, soft_wrap=True, markup=False)
