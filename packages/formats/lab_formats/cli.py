# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces fetch`, `list`, `show`, `import` and `formats`: each reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole
from lab.commands.lines import say

console = PlainConsole()

Name = Annotated[str, typer.Argument(help="A recording of `lab traces list`, or a file.", metavar="NAME|FILE")]
FormatName = Annotated[
    str | None, typer.Option("--format", help="The file's format; default: detected from its content.")
]
Settings = Annotated[list[str] | None, typer.Option("--set", help="An option of the format, as name=value.")]
Figures = Annotated[Path | None, typer.Option(help="Folder for the SVG and PNG; default: results/traces.")]


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
    from lab_formats.fetching.candidates import Mirror
    from lab_formats.fetching.fetch import chosen
    from lab_formats.fetching.fetch import fetch as get

    for line in get(chosen(names or [], everything), Mirror(mirror) if mirror else None):
        say(console, line)


def list_() -> None:
    """List recordings: link, licence, content, length, fetched or not.

    Example: `lab traces list`
    """
    from lab_formats.listed import listing

    console.print(listing())


def show(name: Name, form: FormatName = None, settings: Settings = None, out: Figures = None) -> None:
    """Show rate, round-trip time and loss as curves and CDFs.

    Example: `lab traces show geo-klm-inflight/ping_ams`
    """
    from lab_formats.listed import show as lines
    from lab_formats.named import find

    for line in lines(find(name, form, settings or []), name, out, console.width):
        say(console, line)


def import_(
    files: Annotated[list[Path], typer.Argument(help="Recordings in any format of the lab.")],
    form: FormatName = None,
    out: Annotated[Path | None, typer.Option(help="Store the recording here, as Parquet.")] = None,
    settings: Settings = None,
) -> None:
    """Read recordings and print their content.

    Example: `lab traces import ping.txt --out ping.parquet`
    """
    from lab_formats.named import run

    for line in run(files, form, out, settings or []):
        say(console, line)


def formats(markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False) -> None:
    """List the formats that `lab traces import` reads, with their options.

    Example: `lab traces formats`
    """
    from rich.table import Table

    from lab_formats import listed

    if markdown:
        console.print(listed.markdown(), soft_wrap=True, markup=False)
        return
    table = Table(box=None, pad_edge=False)
    for name in listed.HEADER:
        table.add_column(name, overflow="fold")
    for row in listed.rows():
        table.add_row(*row)
    console.print(table, markup=False)
