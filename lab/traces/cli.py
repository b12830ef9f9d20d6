# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab traces` commands: words in, one function of lab.traces called."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

traces_app = typer.Typer(no_args_is_help=True, help="Recordings of real links: fetch, look at, and make them.")
console = Console(highlight=False)

Mirror = Annotated[
    Path | None, typer.Option(help="A folder with the files, in any layout: found by place, name or checksum.")
]


@traces_app.command()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Recordings, or whole collections.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every recording.")] = False,
    mirror: Mirror = None,
) -> None:
    """Get recordings from their origin, verified; shows each licence.   Example: `lab traces fetch lte-mahimahi`"""
    from lab.traces.candidates import Mirror as Folder
    from lab.traces.fetch import chosen
    from lab.traces.fetch import fetch as get

    for line in get(chosen(names or [], everything), Folder(mirror) if mirror else None):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command("list")
def list_() -> None:
    """List recordings: link, licence, what is recorded, length, fetched or not.   Example: `lab traces list`"""
    from lab.traces.listing import listing

    console.print(listing())
