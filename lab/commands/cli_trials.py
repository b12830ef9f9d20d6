# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that run trials."""

from pathlib import Path
from typing import Annotated

import typer

from lab.base.choice import USUAL_CCAS
from lab.commands.cli_options import (
    SELDOM,
    FigureForms,
    Jobs,
    KernelSource,
    KernelVersion,
    NoPcap,
    Scheduler,
    Shaper,
    ShardFolder,
    Shards,
    Vary,
    Verbose,
    console,
    run_options,
)
from lab.commands.known import require_link, require_run, require_scenarios, require_senders
from lab.kernel.versions import DEFAULT

app = typer.Typer()
ScenarioName = typer.Argument(help="A scenario's name (see `lab list`) or the path of a .yml file.")


@app.command()
def run(
    scenario: Annotated[str | None, ScenarioName] = None,
    profile: Annotated[str | None, typer.Option(help="Try this link without a scenario file.")] = None,
    cca: Annotated[
        str | None, typer.Option(help=f"Senders for --profile, with commas between them; default: {USUAL_CCAS}.")
    ] = None,
    topology: Annotated[
        str | None, typer.Option(help="Topology for --profile, by name or .yml file; default: path.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Trials of each sender; default: the scenario's, or 3.")] = None,
    duration: Annotated[
        int | None, typer.Option(help="Seconds of each download; default: the scenario's, or 30.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default: the scenario's, or 1.")] = None,
    jobs: Jobs = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last unfinished run.")] = False,
    scheduler: Scheduler = None,
    no_pcap: NoPcap = False,
    kernel: KernelVersion = DEFAULT,
    source: KernelSource = None,
    backend: Annotated[
        str | None,
        typer.Option(rich_help_panel=SELDOM, help="virtual, host or vm; default: vm if the VM is up, else virtual."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(rich_help_panel=SELDOM, help="netns, containerlab, mininet, or pair (the client on a second VM)."),
    ] = None,
    shaper: Shaper = "replay",
    forms: FigureForms = None,
    verbose: Verbose = False,
    vary: Vary = None,
    shard: Shards = None,
    out: ShardFolder = None,
) -> None:
    """Run a scenario and report it.

    Example: `lab run geo --trials 2`

    Or try a link: `lab run --profile geo-viasat --cca search,cubic`

    Vary a field: `lab run --profile geo-viasat --cca search,cubic --vary down.delay_ms=20,100,280`
    """
    require_scenarios([scenario])
    require_link(profile, topology)
    require_senders(cca)
    from lab.commands.report import forms_of
    from lab.commands.run import Request, Where
    from lab.commands.run import run as run_and_report
    from lab.kernel.recipe import Recipe

    overrides = {"trials": trials, "duration_s": duration, "seed": seed}
    request = Request(scenario, profile, cca, topology, overrides, shaper)
    where = Where(backend, engine, Recipe(kernel, source))
    wanted = forms_of(forms)
    options = run_options(jobs, scheduler, no_pcap)
    if vary or shard or out:
        from lab.commands.grid import grid
        from lab.commands.part import Part

        unused = {"resume": resume, "format": forms, "verbose": verbose}
        grid(request, where, options, vary or [], Part.of(shard, out), unused, console)
        return
    run_and_report(request, where, options, resume, console, wanted, verbose)


@app.command()
def log(
    run: Annotated[Path, typer.Argument(help="A run's folder, or a scenario for its latest run.")],
    trial: Annotated[str, typer.Argument(help="A trial, such as cubic-001.")],
) -> None:
    """Show what the kernel of a trial printed, also of a trial without a result.

    Example: `lab log geo cubic-001`
    """
    from lab.tables.kernel_log import read_log

    console.write_text(read_log(require_run(run), trial).removesuffix("\n") + "\n")
