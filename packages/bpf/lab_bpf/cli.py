# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders load`, `unload` and `exits`: SEARCH as BPF on the running kernel."""

from typing import Annotated

import typer

from lab.base.console import PlainConsole

console = PlainConsole()


def load(
    name: Annotated[str, typer.Argument(help="search_bpf.")],
    version: Annotated[
        str, typer.Option(help="SEARCH's version: search, search1, search2_printed, search9 or search9_printed.")
    ] = "search",
) -> None:
    """Load SEARCH as BPF into the running kernel (6.12 or newer, with BTF), without a module; as root.

    Example: `sudo .venv/bin/lab senders load search_bpf`, then `iperf3 -C search_bpf ...`
    """
    from lab_bpf.loading import loaded

    for line in loaded(name, version):
        console.print(line, soft_wrap=True, markup=False)


def unload(name: Annotated[str, typer.Argument(help="search_bpf.")]) -> None:
    """Take SEARCH as BPF out of the running kernel again; as root.

    Example: `sudo .venv/bin/lab senders unload search_bpf`
    """
    from lab_bpf.loading import unloaded

    for line in unloaded(name):
        console.print(line, soft_wrap=True, markup=False)


def exits(name: Annotated[str, typer.Argument(help="search_bpf.")]) -> None:
    """Show the newest exits from slow start since SEARCH as BPF was loaded; as root.

    Example: `sudo .venv/bin/lab senders exits search_bpf`
    """
    from lab_bpf.loading import exit_lines

    for line in exit_lines(name):
        console.print(line, soft_wrap=True, markup=False)
