# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab compare`: reads its arguments and calls one function."""

from typing import Annotated

import typer

from lab.base.choice import names
from lab.commands.cli_options import (
    Budget,
    Jobs,
    NoPcap,
    ShardFolder,
    Shards,
    Vary,
    Verbose,
    console,
    resumed_command,
    run_options,
)
from lab.commands.known import require_senders


def compare(
    cca: Annotated[str, typer.Option(help="Senders, with commas between them; the first is compared with each other.")],
    links: Annotated[
        str | None,
        typer.Option(
            help="Kinds of link or profiles, with commas between them: geo, geo-published, leo, lte, 5g, wifi-high, "
            "wifi-low, home-fq_codel, home-cake, docsis-pie, wired, wired-shared (next to CUBIC); default: every kind."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Most trials of each sender on each link; default: 12, with --quick 1.")
    ] = None,
    duration: Annotated[int | None, typer.Option(help="Seconds of each download; default: the link's own.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the links' draws; default: 18.")] = None,
    measure: Annotated[str, typer.Option(help="What decides when a link has enough trials.")] = "chokepoint",
    fixed: Annotated[bool, typer.Option("--fixed", help="Run all trials on each link: none ends early.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="One trial on the main kinds of link, no reports.")] = False,
    budget_minutes: Budget = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last comparison, with the same options.")] = (
        False
    ),
    vary: Vary = None,
    shard: Shards = None,
    out: ShardFolder = None,
    jobs: Jobs = None,
    verbose: Verbose = False,
    no_pcap: NoPcap = False,
) -> None:
    """Compare senders over kinds of link, and rank them on one page.

    Example: `lab compare --cca search,cubic,bbr,hystartpp --links geo,leo`
    """
    require_senders(cca)
    require_links(links)
    from lab.commands.part import Part
    from lab_compare.command import Chosen, CompareOptions, compare_known

    chosen = Chosen(cca, links, trials, duration, seed, quick, fixed, tuple(vary or ()), Part.of(shard, out))
    how = CompareOptions(measure, budget_minutes, resume, verbose=verbose, again=resumed_command())
    compare_known(chosen, how, run_options(jobs, None, no_pcap), console)


def require_links(text: str | None) -> None:
    """Refuse what is neither a kind of link nor a profile, of names with commas between them."""
    from lab_compare.link_kinds import links

    if text:
        links(names(text))
