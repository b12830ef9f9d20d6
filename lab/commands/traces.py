# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab traces` commands: each reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole
from lab.commands.lines import say

traces_app = typer.Typer(no_args_is_help=True, help="Recordings of real links: fetch, show, import and record them.")
console = PlainConsole()

Mirror = Annotated[
    Path | None, typer.Option(help="A folder with the files, in any layout; found by path, name or checksum.")
]

Name = Annotated[str, typer.Argument(help="A recording of `lab traces list`, or a file.", metavar="NAME|FILE")]
FormatName = Annotated[
    str | None, typer.Option("--format", help="The file's format; default: detected from its content.")
]
Settings = Annotated[list[str] | None, typer.Option("--set", help="An option of the format, as name=value.")]
Figures = Annotated[Path | None, typer.Option(help="Folder for the SVG and PNG; default: results/traces.")]


@traces_app.command()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Recordings, or whole collections.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every recording that has a licence.")] = False,
    mirror: Mirror = None,
) -> None:
    """Fetch and verify recordings, and show their licences.

    Example: `lab traces fetch lte-mahimahi`
    """
    from lab.traces.candidates import Mirror as Folder
    from lab.traces.fetch import chosen
    from lab.traces.fetch import fetch as get

    for line in get(chosen(names or [], everything), Folder(mirror) if mirror else None):
        say(console, line)


@traces_app.command("list")
def list_() -> None:
    """List recordings: link, licence, content, length, fetched or not.

    Example: `lab traces list`
    """
    from lab.traces.listing import listing

    console.print(listing())


@traces_app.command(hidden=True)
def formats(markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False) -> None:
    """List the formats that `lab traces import` reads, with their options.   Example: `lab traces formats`."""
    from rich.table import Table

    from lab.commands import traces_formats

    if markdown:
        console.print(traces_formats.markdown(), soft_wrap=True, markup=False)
        return
    table = Table(*traces_formats.HEADER, box=None, pad_edge=False)
    for row in traces_formats.rows():
        table.add_row(*row)
    console.print(table, markup=False)


@traces_app.command()
def show(name: Name, form: FormatName = None, settings: Settings = None, out: Figures = None) -> None:
    """Show rate, round-trip time and loss as curves and CDFs.

    Example: `lab traces show geo-klm-inflight/ping_ams`
    """
    from lab.commands.traces_show import show as lines
    from lab.traces.imported import find

    for line in lines(find(name, form, settings or []), name, out, console.width):
        say(console, line)


@traces_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Recordings in any format of the lab.")],
    format: Annotated[str | None, typer.Option(help="The format; default: detected from the content.")] = None,  # noqa: A002
    out: Annotated[Path | None, typer.Option(help="Store the recording here, as Parquet.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="An option of the format, as name=value.")] = None,
) -> None:
    """Read recordings and print their content.

    Example: `lab traces import ping.txt --out ping.parquet`
    """
    from lab.commands.traces_import import run

    for line in run(files, format, out, set_ or []):
        say(console, line)
