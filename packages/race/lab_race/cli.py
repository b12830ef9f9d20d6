# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab race`: reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import Jobs, console


def race(
    cca: Annotated[str, typer.Argument(help="Senders, with commas between them: each runs beside each, itself too.")],
    links: Annotated[
        str | None,
        typer.Option(
            help="geo, leo, lte, wifi-high, wired-0.5bdp, wired-1bdp, wired-4bdp, wired-fq_codel, or profiles, with "
            "commas between them; default: all of these eight."
        ),
    ] = None,
    starts: Annotated[str, typer.Option(help="How much later the second begins, in s: numbers with commas.")] = "0,0.5",
    trials: Annotated[int, typer.Option(help="Draws of each link, the same for every pair.")] = 1,
    duration: Annotated[int | None, typer.Option(help="Length of each trial in s; default: the link's own.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the page; default: race/ of the results.")] = None,
    jobs: Jobs = None,
) -> None:
    """Let two senders begin on one bottleneck, each pair in both orders, and show what each costs the other.

    Example: `lab race search,cubic,bbr --links wired-1bdp,geo`
    """
    from lab.base.processes import processors
    from lab_race.command import Request, answer

    answer(Request(cca, links, starts, trials, duration, out, processors() if jobs is None else jobs), console)
