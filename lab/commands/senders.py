# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders`: what senders over QUIC are built of, and SEARCH as BPF on the running kernel."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole

app = typer.Typer(
    no_args_is_help=True, help="Crates of the senders over QUIC; and SEARCH as BPF, loaded into the running kernel."
)
console = PlainConsole()


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="quinn: the crates of the senders over QUIC.")],
    mirror: Annotated[Path | None, typer.Option(help="A folder with the files, instead of their origins.")] = None,
) -> None:
    """Fetch and verify the crates of the senders over QUIC, each under a licence of its own.

    Example: `lab senders fetch quinn`
    """
    from lab.base.errors import field_error
    from lab.kernel.quic import crates
    from lab.traces.candidates import Mirror

    if name != crates.NAME:
        raise field_error("command line", "name", name, crates.NAME)
    console.print(crates.fetch(Mirror(mirror) if mirror else None), soft_wrap=True, markup=False)


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
