# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders`: what is known of each sender. Packages add commands for theirs (lab/commands/cli.py)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lab.base.console import PlainConsole
from lab.commands.lines import show_rows

if TYPE_CHECKING:
    from lab.kernel.build import Kernel
    from lab.schema.cca import Cca

HELP = "The senders and their parameters; crates of those over QUIC; SEARCH as BPF in the running kernel."
app = typer.Typer(no_args_is_help=True, help=HELP)
console = PlainConsole()


@app.command("list")
def list_() -> None:
    """List all senders: name, label, module, and what ends slow start.

    Example: `lab senders list`
    """
    from lab.schema.cca import load_senders
    from lab.senders.ways import way_of

    rows: list[tuple[str, str]] = []
    for name, cca in load_senders().items():
        rows += [(name, f"{cca.label} ({way_of(cca).where(cca)})"), ("", f"exit: {cca.exit_label}")]
    show_rows(console, rows)


@app.command()
def show(name: Annotated[str, typer.Argument(help="A sender (`lab senders list`), or FILE.yml:CONTROL.")]) -> None:
    """Show a sender and its parameters as the kernel has them.

    Example: `lab senders show hystartpp`
    """
    from lab.commands.prepare import prepare
    from lab.kernel.recipe import Recipe
    from lab.senders.named import sender

    cca = sender(name, "name")
    backend = prepare(Recipe(), console)
    described = _lines(cca, backend.kernel, backend.world.root)
    console.print("\n".join(described), soft_wrap=True, markup=False)


def _lines(cca: "Cca", kernel: "Kernel", world: Path) -> Iterator[str]:
    """Format all that is known of a sender; the kernel boots to describe a module."""
    from lab.senders.ways import way_of

    code = way_of(cca).describe(cca, kernel, world)
    facts = {
        "label": cca.label,
        "algorithm": cca.algorithm,
        "module": code["module"],
        "source": code["source"],
        "slow start": f"ends upon {cca.exit_label}{'' if cca.slow_start_exit in ('loss', 'bbr') else '; or upon loss'}",
        "exit": code["exit"],
        "memory": code["memory"],
        "needs": ", ".join(_needs(cca)) or "nothing else",
    }
    for name, value in facts.items():
        yield f"{name:11} {value}"
    for parameter in code["parameters"]:
        own = cca.params.get(parameter["name"])
        value = parameter["value"] if own is None else f"{own} (by its stanza; else {parameter['value']})"
        yield f"parameter   {parameter['name']} = {value}   {parameter['meaning']}".rstrip()


def _needs(cca: "Cca") -> list[str]:
    """List what a sender needs of the machine besides its module."""
    first = [f"a first receive window of {cca.first_window_pkts} packets"] if cca.first_window_pkts else []
    return [
        *([f"qdisc {cca.qdisc}"] if cca.qdisc else []),
        *first,
        *(f"{name}={value}" for name, value in cca.sysctls.items()),
    ]
