# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab whatif`: reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import Jobs, console


def whatif(
    capture: Annotated[Path, typer.Argument(help="A pcap or pcapng capture of one bulk download over TCP.")],
    was: Annotated[str | None, typer.Option(help="The sender that the capture shows, such as cubic.")] = None,
    cca: Annotated[str | None, typer.Option(help="Other senders, with commas between them; needs --was.")] = None,
    at: Annotated[
        str | None, typer.Option(help="Where it was captured: receiver or sender; default: found from its packets.")
    ] = None,
    pacing: Annotated[str, typer.Option(help="How the sender paced: internal (by TCP) or fq.")] = "internal",
    out: Annotated[
        Path | None, typer.Option(help="The folder to write; default: the capture's name and -whatif.")
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Show the link of a captured download, and what other senders would have done on it; or refuse.

    Example: `lab whatif my.pcap --was cubic --cca search,bbr`

    The link alone: `lab whatif my.pcap`
    """
    from lab.base.processes import processors
    from lab_whatif.command import Request, answer

    answer(Request(capture, was, cca, at, pacing, out, processors() if jobs is None else jobs), console)
