# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab try`: reads its arguments and calls one function."""

from pathlib import Path
from typing import Annotated

import typer
from lab_compare.cli import require_links

from lab.commands.cli_options import SELDOM, Budget, Jobs, NoPcap, Verbose, console, resumed_command, run_options
from lab.commands.known import require_senders
from lab.kernel.versions import DEBIAN, DEFAULT, LARGE_SOCKETS


def try_(
    sources: Annotated[
        list[Path],
        typer.Argument(help="C files, or folders with a Kbuild: each of its modules is tried; or files of stacks."),
    ],
    links: Annotated[
        str | None, typer.Option(help="Kinds of link or profiles, with commas between them; default: every kind.")
    ] = None,
    against: Annotated[str, typer.Option(help="Senders of the lab to compare with.")] = "cubic,search,bbr",
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the module, such as gain=3; may be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One trial on the main kinds of link, no reports.")] = False,
    trials: Annotated[
        int | None, typer.Option(help="Most trials of each sender on each link; default: 12, with --quick 1.")
    ] = None,
    duration: Annotated[int | None, typer.Option(help="Seconds of each download; default: the link's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the links' draws; default: 18.")] = None,
    budget: Budget = None,
    sanitize: Annotated[
        bool,
        typer.Option(
            "--sanitize",
            rich_help_panel=SELDOM,
            help="Build the sanitized kernel if it is missing, for the smoke test.",
        ),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last unfinished comparison.")] = False,
    verbose: Verbose = False,
    jobs: Jobs = None,
    no_pcap: NoPcap = False,
    backend: Annotated[str | None, typer.Option(rich_help_panel=SELDOM, help="virtual (the default) or vm.")] = None,
    engine: Annotated[
        str | None, typer.Option(rich_help_panel=SELDOM, help="netns, containerlab or mininet, in the VM.")
    ] = None,
    first_window: Annotated[
        int | None,
        typer.Option(
            min=44,
            max=65535,
            rich_help_panel=SELDOM,
            help="Packets of the receiver's first window, for a sender that 44 hold back.",
        ),
    ] = None,
    kernel: Annotated[
        str,
        typer.Option(
            rich_help_panel=SELDOM,
            help=f"Kernel of your module: {', '.join(DEBIAN)}, or {LARGE_SOCKETS}, where its state may have 768 bytes.",
        ),
    ] = DEFAULT,
    expect: Annotated[
        list[str] | None, typer.Option(help='Such as "geo: chokepoint >= cubic"; else status 1. May be repeated.')
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the expectations' results to this file, as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(help="The same as JUnit's XML.")] = None,
) -> None:
    """Compare a congestion control of your own with the lab's senders.

    Example: `lab try my_cc.c --quick`

    Two versions side by side: `lab try a.c b.c --links geo,leo --against search --param gain=3`

    A stack of your own over UDP, which is built already: `lab try ./mystack.yml --quick`
    """
    require_senders(against, "against")
    require_links(links)
    from lab_compare.command import CompareOptions

    from lab_try.command import TryRequest, try_own
    from lab_try.expect import Expected, read

    expected = Expected(tuple(map(read, expect or ())), json, junit)
    chosen = (against, links, trials, duration, seed, quick, sanitize, backend, engine, expected, first_window, kernel)
    request = TryRequest(tuple(sources), tuple(param or ()), *chosen)
    how = CompareOptions(budget_minutes=budget, resume=resume, verbose=verbose, again=resumed_command())
    try_own(request, how, run_options(jobs, None, no_pcap), console)
