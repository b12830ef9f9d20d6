# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces`: recordings are fetched and listed here; packages bring what reads, shows and makes them."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole
from lab.commands.lines import say

traces_app = typer.Typer(no_args_is_help=True, help="Recordings of real links: fetch, list, show and import them.")
console = PlainConsole()


@traces_app.command()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Recordings, or whole collections.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every recording that has a licence.")] = False,
    mirror: Annotated[
        Path | None, typer.Option(help="A folder with the files, in any layout; found by path, name or checksum.")
    ] = None,
) -> None:
    """Fetch and verify recordings, and show their licences.

    Example: `lab traces fetch lte-mahimahi`
    """
    from lab.traces.candidates import Mirror
    from lab.traces.fetch import chosen
    from lab.traces.fetch import fetch as get

    for line in get(chosen(names or [], everything), Mirror(mirror) if mirror else None):
        say(console, line)


@traces_app.command("list")
def list_() -> None:
    """List recordings: link, licence, content, length, fetched or not.

    Example: `lab traces list`
    """
    from lab.traces.listing import listing

    console.print(listing())
