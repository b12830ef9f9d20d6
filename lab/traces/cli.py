# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces`: recordings of real links."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

traces_app = typer.Typer(no_args_is_help=True, help="Recordings of real links.")
console = Console(highlight=False)


@traces_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Recordings in any form the lab knows.")],
    format: Annotated[str | None, typer.Option(help="The form, instead of what the content says.")] = None,  # noqa: A002
    out: Annotated[Path | None, typer.Option(help="Store the recording here, as Parquet.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="An option of the form, as name=value.")] = None,
) -> None:
    """Read recordings, and say what is in them.   Example: `lab traces import ping.txt --out ping.parquet`"""
    from lab.traces.import_command import run

    for line in run(files, format, out, set_ or []):
        console.print(line, soft_wrap=True, markup=False)
