# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab traces` commands: each reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole

traces_app = typer.Typer(no_args_is_help=True, help="Recordings of real links: fetch, show, import and record them.")
console = PlainConsole()

Mirror = Annotated[
    Path | None, typer.Option(help="A folder with the files, in any layout; found by path, name or checksum.")
]

Name = Annotated[str, typer.Argument(help="A recording of `lab traces list`, or a file.", metavar="NAME|FILE")]
Form = Annotated[str | None, typer.Option("--format", help="The file's format; default: detected from its content.")]
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
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command("list")
def list_() -> None:
    """List recordings: link, licence, content, length, fetched or not.

    Example: `lab traces list`
    """
    from lab.traces.listing import listing

    console.print(listing())


@traces_app.command(hidden=True)
def formats(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
) -> None:
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
def show(
    name: Name,
    form: Form = None,
    settings: Settings = None,
    out: Figures = None,
) -> None:
    """Show rate, round-trip time and loss as curves and CDFs.

    Example: `lab traces show geo-klm-inflight/ping_ams`
    """
    from lab.commands.traces_show import show as lines
    from lab.traces.imported import find

    for line in lines(find(name, form, settings or []), name, out, console.width):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command(hidden=True)
def spectrum(
    name: Name,
    window_s: Annotated[
        float | None, typer.Option(help="Window of the transform; default: 20 minimum round-trip times.")
    ] = None,
    form: Form = None,
    settings: Settings = None,
    out: Figures = None,
) -> None:
    """Find the cycle of the round-trip times.

    Example: `lab traces spectrum leo-leocc/delay_example`
    """
    from lab.commands.traces_spectrum import show_spectrum
    from lab.traces.imported import find

    for line in show_spectrum(find(name, form, settings or []), name, window_s, out, console.width):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command(hidden=True)
def record(
    host: Annotated[str | None, typer.Argument(help="Machine on which `lab traces record --server` runs.")] = None,
    server: Annotated[bool, typer.Option("--server", help="Serve measurements until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65534, help="TCP and UDP; probes use the next one.")] = 5301,
    out: Annotated[Path | None, typer.Option(help="Folder of the dataset.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds for which each direction is filled.")] = 30,
    idle_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds with probes only, before: the round-trip time without load.")
    ] = 10,
    rate_mbps: Annotated[float, typer.Option(min=0.01, help="Rate of the fillers: above the link's capacity.")] = 200,
    ways: Annotated[
        str, typer.Option(help="Directions to fill: each (one after the other), both, down, up, none.")
    ] = "each",
    probe_ms: Annotated[float, typer.Option(min=1, help="Milliseconds between probes, and between rows.")] = 10,
    packet_bytes: Annotated[int, typer.Option(min=100, max=9000, help="Bytes of a filler, with its IP header.")] = 1500,
    opportunities: Annotated[
        bool, typer.Option("--opportunities", help="Also write the capacity as 1500-byte packets per ms.")
    ] = False,
    most_mbps: Annotated[float, typer.Option(help="Server: highest rate of its fillers.")] = 1000,
    most_seconds: Annotated[float, typer.Option(help="Server: longest measurement.")] = 600,
) -> None:
    """Measure a live path.

    Example: `lab traces record --server`, and elsewhere `lab traces record HOST --out mine`

    Fillers exceed the link's capacity, so that its queue is full while they are sent. The idle phase has the
    round-trip time without that queue. Down is the direction to this machine.
    """
    from lab.base.errors import UserError
    from lab.traces import live

    if host is not None and out is not None and not server:
        plan = live.plan(ways, seconds, idle_seconds, rate_mbps, packet_bytes, probe_ms)
        lines = live.measure(host, port, plan, out, opportunities)
    elif server and host is None:
        lines = live.serve(port, most_mbps, most_seconds)
    else:
        raise UserError("lab traces record: must be given HOST with --out, or --server")
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


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
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command(hidden=True)
def compare(
    run: Annotated[Path, typer.Argument(help="A run's folder, such as results/geo-recorded/latest.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Logs of ACKs, by name or as files; default: all that are fetched.")
    ] = None,
    out: Figures = None,
) -> None:
    """Compare recorded downloads with emulated ones.

    Example: `lab traces compare results/geo-recorded/latest`
    """
    from lab.commands.traces_compare import compare as lay

    lay(run, names or [], out, console)
