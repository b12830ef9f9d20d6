# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab break`: reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.cli_options import SELDOM, Jobs, console, run_options


def break_(
    sender: Annotated[str, typer.Argument(help="A sender's name, or the path of its C file or folder.")],
    measure: Annotated[
        str, typer.Option(help="early, early-own, late, throughput, queueing, harm, or differs (with --against).")
    ] = "early",
    bounds: Annotated[
        str, typer.Option(help="access, access-lossless, handover, uplink, wifi, geo, or a .yml file.")
    ] = "access",
    budget: Annotated[int, typer.Option(help="Most trials of the search.")] = 500,
    rivals: Annotated[
        str, typer.Option(help="Senders that must do better on the link, with commas between them.")
    ] = "cubic,bbr,search",
    against: Annotated[str | None, typer.Option(help="The other version, for --measure differs.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the optimiser.")] = 1,
    optimiser: Annotated[str, typer.Option(help="tpe, cmaes or random.")] = "tpe",
    islands: Annotated[
        int, typer.Option(rich_help_panel=SELDOM, help="Searches with seeds of their own, which share the budget.")
    ] = 1,
    shard: Annotated[
        str | None, typer.Option(rich_help_panel=SELDOM, help="K/N: search island K of N only, for `lab merge`.")
    ] = None,
    out: Annotated[Path | None, typer.Option(rich_help_panel=SELDOM, help="The folder of a shard.")] = None,
    first: Annotated[bool, typer.Option("--first", help="End with the first batch of links that has a find.")] = False,
    repeat: Annotated[Path | None, typer.Option(help="Run a find.json again, and compare every packet.")] = None,
    jobs: Jobs = None,
) -> None:
    """Find the link on which a sender is worst, and shrink it to the smallest file that shows it.

    Example: `lab break cubic --budget 300`

    Where do two versions differ? `lab break search --measure differs --against search2`
    """
    from lab_break.command import break_sender
    from lab_break.islands import island_of, search_island
    from lab_break.repeat import repeated
    from lab_break.request import Request
    from lab_break.space import load_bounds

    options = run_options(jobs)
    if repeat is not None:
        repeated(sender, repeat, options, console)
        return
    part = island_of(shard, out, islands)
    count = part.shard.count if part else islands
    request = Request.of(
        sender, measure, (bounds, load_bounds(bounds)), rivals, against, budget, seed, optimiser, count, first
    )
    if part:
        search_island(request, part, options, console)
    else:
        break_sender(request, None, options, console)
