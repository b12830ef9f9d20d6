# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab shell`: reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import console


def shell(
    profile: Annotated[
        str, typer.Option(help="The link: a profile's name (see `lab list`) or the path of a .yml file.")
    ],
    topology: Annotated[str | None, typer.Option(help="Topology; default: path.")] = None,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Let the clock go on as the wall's; default: virtual time.")
    ] = False,
    stop: Annotated[bool, typer.Option("-e", help="End at the first line that fails.")] = False,
    keep: Annotated[
        Path | None, typer.Option(help="A new folder for the lines' output, and for files that commands write.")
    ] = None,
    duration: Annotated[int, typer.Option(help="Seconds of a link that changes.")] = 600,
    seed: Annotated[int, typer.Option(help="Seed: the link is that of trial 1 of `lab run --profile`.")] = 1,
) -> None:
    """Open a prompt in an emulated network: NODE COMMAND on each line. Its virtual clock stands between commands.

    Example: `lab shell --profile geo-viasat`

    A script: `echo 'client ping -c3 server' | lab shell --profile geo-viasat`
    """
    import sys

    from lab_shell.command import ShellRequest
    from lab_shell.command import shell as open_shell

    request = ShellRequest(profile, topology, seed, duration, real_time, stop, keep)
    raise typer.Exit(open_shell(request, sys.stdin, console))
