# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders`: visitors, which are senders that others wrote; and SEARCH as BPF on the running kernel."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="Senders of others; and SEARCH as BPF, loaded into the running kernel.")
console = Console(highlight=False)


@app.command("list")
def list_() -> None:
    """List visitors: label, licence, fetched or not, their slow start, and what those need that cannot be built.

    Example: `lab senders list`
    """
    from lab.commands.visitor_files import listing

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
    from lab.commands.visitor_files import fetched
    from lab.traces.candidates import Mirror

    for line in fetched(names or [], everything, Mirror(mirror) if mirror else None):
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def load(
    name: Annotated[str, typer.Argument(help="search_bpf.")],
    version: Annotated[str, typer.Option(help="SEARCH's version: search, search1 or search2_printed.")] = "search",
) -> None:
    """Load SEARCH as BPF into the running kernel (6.12 or newer, with BTF), without a module; as root.

    Example: `sudo .venv/bin/lab senders load search_bpf`, then `iperf3 -C search_bpf ...`
    """
    from lab.commands.bpf import loaded

    for line in loaded(name, version):
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def unload(name: Annotated[str, typer.Argument(help="search_bpf.")]) -> None:
    """Take SEARCH as BPF out of the running kernel again; as root.

    Example: `sudo .venv/bin/lab senders unload search_bpf`
    """
    from lab.commands.bpf import unloaded

    for line in unloaded(name):
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def exits(name: Annotated[str, typer.Argument(help="search_bpf.")]) -> None:
    """Show the newest exits from slow start since SEARCH as BPF was loaded; as root.

    Example: `sudo .venv/bin/lab senders exits search_bpf`
    """
    from lab.commands.bpf import exit_lines

    for line in exit_lines(name):
        console.print(line, soft_wrap=True, markup=False)
