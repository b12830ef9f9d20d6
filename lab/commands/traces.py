# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab traces` commands: each parses its options and calls one function."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

traces_app = typer.Typer(no_args_is_help=True, help="Recordings of real links: fetch, show, and make them.")
console = Console(highlight=False)

Mirror = Annotated[
    Path | None, typer.Option(help="A folder with the files, in any layout: found by path, name or checksum.")
]

Name = Annotated[str, typer.Argument(help="A recording that `lab traces list` names, or a file.", metavar="NAME|FILE")]
Form = Annotated[str | None, typer.Option("--format", help="The file's format, where its content does not decide it.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="An option of the format, as name=value.")]
Figures = Annotated[Path | None, typer.Option(help="Folder for the SVG and PNG; default: results/traces.")]


@traces_app.command()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Recordings, or whole collections.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every recording that has a licence.")] = False,
    mirror: Mirror = None,
) -> None:
    """Download recordings, verify them, and show each licence.   Example: `lab traces fetch lte-mahimahi`."""
    from lab.traces.candidates import Mirror as Folder
    from lab.traces.fetch import chosen
    from lab.traces.fetch import fetch as get

    for line in get(chosen(names or [], everything), Folder(mirror) if mirror else None):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command("list")
def list_() -> None:
    """List recordings: link, licence, what is recorded, length, fetched or not.   Example: `lab traces list`."""
    from lab.traces.listing import listing

    console.print(listing())


@traces_app.command()
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
    """Draw rate, RTT and loss, over time and as CDFs.   Example: `lab traces show geo-klm-inflight/ping_ams`."""
    from lab.commands.traces_show import show as lines
    from lab.traces.imported import find

    for line in lines(find(name, form, settings or []), name, out, console.width):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command()
def spectrum(
    name: Name,
    window_s: Annotated[float | None, typer.Option(help="Window of the transform; default: 20 minimum RTTs.")] = None,
    form: Form = None,
    settings: Settings = None,
    out: Figures = None,
) -> None:
    """Find the cycle in which the RTT varies.   Example: `lab traces spectrum leo-leocc/delay_example`."""
    from lab.commands.traces_spectrum import show_spectrum
    from lab.traces.imported import find

    for line in show_spectrum(find(name, form, settings or []), name, window_s, out, console.width):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command()
def record(
    host: Annotated[str | None, typer.Argument(help="Where `lab traces record --server` runs.")] = None,
    server: Annotated[bool, typer.Option("--server", help="Serve `lab traces record HOST`, until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65534, help="TCP and UDP; probes use the next one.")] = 5301,
    out: Annotated[Path | None, typer.Option(help="Folder of the dataset.")] = None,
    seconds: Annotated[float, typer.Option(min=1, help="Time for which each direction is filled.")] = 30,
    idle_seconds: Annotated[
        float, typer.Option(min=0, help="Time of probes alone, before: the RTT without load.")
    ] = 10,
    rate_mbps: Annotated[
        float, typer.Option(min=0.01, help="Rate of the filler packets: above the link's rate.")
    ] = 200,
    ways: Annotated[str, typer.Option(help="each (one after the other), both, down, up, none.")] = "each",
    probe_ms: Annotated[float, typer.Option(min=1, help="Time between probes, and between rows.")] = 10,
    packet_bytes: Annotated[
        int, typer.Option(min=100, max=9000, help="Size of a filler packet, with its IP header.")
    ] = 1500,
    opportunities: Annotated[
        bool, typer.Option("--opportunities", help="Also store 1500-byte packets per ms.")
    ] = False,
    most_mbps: Annotated[float, typer.Option(help="Server: the highest rate that it sends.")] = 1000,
    most_seconds: Annotated[float, typer.Option(help="Server: the longest measurement.")] = 600,
) -> None:
    """Measure a live path.   Example: `lab traces record --server`, and elsewhere `lab traces record HOST --out mine`.

    Filler packets exceed the link's rate, so that its queue is full: the RTT without that queue is in the idle phase.
    Down is towards this machine.
    """
    from lab.base.errors import UserError
    from lab.traces import live

    if server == (host is not None) or (host is not None and out is None):
        raise UserError("lab traces record: must be given HOST with --out, or --server")
    if server:
        lines = live.serve(port, most_mbps, most_seconds)
    else:
        assert host is not None
        assert out is not None
        asked = live.plan(ways, seconds, idle_seconds, rate_mbps, packet_bytes, probe_ms)
        lines = live.measure(host, port, asked, out, opportunities)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Recordings in any format that `lab traces formats` lists.")],
    format: Annotated[str | None, typer.Option(help="The format, where the content does not decide it.")] = None,  # noqa: A002
    out: Annotated[Path | None, typer.Option(help="Store the recording here, as Parquet.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="An option of the format, as name=value.")] = None,
) -> None:
    """Read recordings, and describe them.   Example: `lab traces import ping.txt --out ping.parquet`."""
    from lab.commands.traces_import import run

    for line in run(files, format, out, set_ or []):
        console.print(line, soft_wrap=True, markup=False)


@traces_app.command()
def compare(
    run: Annotated[Path, typer.Argument(help="The folder of a run, such as results/geo-recorded/latest.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Logs of ACKs, as names or files; default: all fetched ones.")
    ] = None,
    out: Figures = None,
) -> None:
    """Compare recorded downloads with emulated ones.   Example: `lab traces compare results/geo-recorded/latest`."""
    from lab.commands.traces_compare import compare as lay

    lay(run, names or [], out, console)
