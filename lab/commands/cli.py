# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command: words in, one function of the lab called."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lab.commands import box as box_command
from lab.commands import cca as cca_command
from lab.commands.traces import traces_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="An emulation lab that asks: does this sender leave slow start at the right moment?",
)
kernel_app = typer.Typer(no_args_is_help=True, help="The virtual-time kernel and the sender modules.")
app.add_typer(kernel_app, name="kernel")
app.add_typer(traces_app, name="traces")
app.add_typer(cca_command.app, name="cca")
app.add_typer(box_command.app, name="box")
app.add_typer(box_command.image_app, name="image")
console = Console(highlight=False)

KernelVersion = Annotated[str, typer.Option("--kernel", help="Debian's kernel to build: 6.12 or 6.1.")]
KernelSource = Annotated[Path | None, typer.Option("--source", help="A tarball instead, configured like --kernel.")]
Scheduler = Annotated[str | None, typer.Option(help="A dask scheduler's address, instead of this machine's cores.")]
NoPcap = Annotated[bool, typer.Option("--no-pcap", help="Keep the tables only, not the captures they came from.")]
ScenarioName = Annotated[str, typer.Argument(help="A scenario's name (see `lab list`) or the path of a .yml file.")]


@app.command("list")
def list_() -> None:
    """List scenarios, profiles, topologies and senders.   Example: `lab list`"""
    from lab.commands.inventory import lines

    console.print("\n".join(lines()), soft_wrap=True, markup=False)


@app.command("data-dictionary")
def data_dictionary() -> None:
    """Print every file, column and field of a result, as Markdown.   Example: `lab data-dictionary`"""
    from lab.commands.data_dictionary import lines

    console.print("\n".join(lines()), soft_wrap=True, markup=False)


@app.command()
def check() -> None:
    """Load every scenario, profile, topology and sender, and say what is wrong.   Example: `lab check`"""
    from lab.commands.inventory import check_all

    console.print("\n".join(check_all()), soft_wrap=True, markup=False)


@app.command()
def doctor() -> None:
    """Tell what is missing on this machine, and the command that mends it.   Example: `lab doctor`"""
    from lab.commands.doctor import examine

    findings = examine()
    for finding in findings:
        console.print(finding.line(), soft_wrap=True, markup=False)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command()
def run(
    scenario: ScenarioName,
    trials: Annotated[int | None, typer.Option(help="Trials of each sender, instead of the scenario's.")] = None,
    duration: Annotated[int | None, typer.Option(help="Seconds of each download, instead of the scenario's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the scenario's.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Trials at once; one a core unless said otherwise.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last unfinished run.")] = False,
    scheduler: Scheduler = None,
    no_pcap: NoPcap = False,
    kernel: KernelVersion = "6.12",
    source: KernelSource = None,
    backend: Annotated[
        str | None, typer.Option(help="virtual, host or vm; vm where the VM is up, else virtual.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="netns, containerlab, mininet, or pair: the client on a second VM.")
    ] = None,
) -> None:
    """Run a scenario, report it, and show the result.   Example: `lab run geo --trials 2`"""
    from lab.backends.choose import choose
    from lab.commands.report import report as show_report
    from lab.kernel.build import find
    from lab.kernel.recipe import Recipe
    from lab.runs.conduct import conduct, how

    overrides = {"trials": trials, "duration_s": duration, "seed": seed}
    asked = how(jobs, scheduler, not no_pcap, choose(backend, engine))
    folder, failures = conduct(scenario, overrides, asked, resume, Recipe(kernel, source), console)
    if failures:
        console.print(f"{len(failures)} trials gave no result: {failures[0]}", soft_wrap=True, markup=False)
        console.print(f"the others are stored in {folder}: go on with --resume", soft_wrap=True, markup=False)
        raise typer.Exit(1)
    show_report(folder, find(), console)


@app.command()
def reproduce(
    scenarios: Annotated[list[str] | None, typer.Argument(help="Which ones; all unless said otherwise.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the trials.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Trials at once; one a core unless said otherwise.")] = None,
    scheduler: Scheduler = None,
    no_pcap: NoPcap = False,
) -> None:
    """Run what is missing of every experiment of the sources, and judge it.   Example: `lab reproduce --quick`"""
    from lab.commands.evaluate import evaluate as write
    from lab.runs.conduct import how
    from lab.runs.reproduce import reproduce as run_all

    faults = run_all(scenarios or [], quick, how(jobs, scheduler, not no_pcap), console)
    write(console, faults, with_page=True)


@app.command()
def evaluate(
    check: Annotated[bool, typer.Option("--check", help="Run some points of the sensitivity maps for real.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Trials at once; one a core unless said otherwise.")] = None,
) -> None:
    """Make the tables of results/evaluation/ from the stored runs.   Example: `lab evaluate`"""
    from lab.commands.evaluate import check_sensitivity
    from lab.commands.evaluate import evaluate as write
    from lab.runs.conduct import how

    if check:
        check_sensitivity(console, how(jobs).workers)
    write(console, [])


@app.command()
def verify() -> None:
    """Hold every claim of the sources against the stored runs.   Example: `lab verify`"""
    from lab.commands.evaluate import verify as show

    show(console)


@app.command()
def report(
    folder: Annotated[Path | None, typer.Argument(help="A run's folder; else the latest run of geo.")] = None,
) -> None:
    """Write the tables, figures and page of a stored run again.   Example: `lab report results/geo/latest`"""
    from lab.base import paths
    from lab.commands.report import report as write
    from lab.kernel.build import find

    write(folder or paths.results() / "geo" / "latest", find(), console)


@app.command()
def page(
    folder: Annotated[Path | None, typer.Argument(help="The folder of all results, instead of the usual one.")] = None,
) -> None:
    """Make index.html of all stored scenarios: tables and figures of the seeds, every trial.   Example: `lab page`"""
    from lab.base import paths
    from lab.kernel.build import find
    from lab.report.index.write import write_index

    kernel = find()
    made = write_index(folder or paths.results(), kernel.replay_library if kernel else None)
    console.print(f"page      {made}", soft_wrap=True, markup=False)


@app.command()
def agree(
    scenario: Annotated[str, typer.Argument(help="A scenario that was run in several places.")] = "engines-agree",
) -> None:
    """Compare the latest runs of a scenario, place by place.   Example: `lab agree engines-agree`"""
    from lab.base import paths
    from lab.report import agree as places
    from lab.report.text import shown
    from lab.schema.scenario import load_scenario

    name, asked = load_scenario(scenario)
    table = places.table(places.latest(paths.results() / name, asked.heuristic))
    console.print(shown((), (table,), console.width))


@app.command()
def clean(
    cache: Annotated[
        bool, typer.Option("--cache", help="Remove kernels and images too: the next run builds them.")
    ] = False,
) -> None:
    """Remove what killed runs left behind; whole results stay.   Example: `lab clean`"""
    from lab.commands.clean import tidy

    for removed in tidy(cache):
        console.print(f"removed {removed}", soft_wrap=True, markup=False)


@kernel_app.command()
def build(
    kernel: KernelVersion = "6.12",
    source: KernelSource = None,
    sanitize: Annotated[bool, typer.Option("--sanitize", help="With the checks that find bugs: slow.")] = False,
) -> None:
    """Build the virtual-time kernel and the sender modules, unless they are cached.   Example: `lab kernel build`"""
    from lab.kernel.recipe import Recipe
    from lab.runs.conduct import prepare

    built, world = prepare(Recipe(kernel, source, sanitize), console)
    console.print(
        f"kernel   {built.linux}\nmodules  {built.modules}\nworld    {world.root}", soft_wrap=True, markup=False
    )


@app.command()
def bench(
    seconds: Annotated[int, typer.Option(help="Virtual seconds of the trial that is timed.")] = 30,
) -> None:
    """Measure how fast trials run, as ratios on this machine.   Example: `lab bench`"""
    from lab.bench.speed import measure

    measure(seconds, console)
