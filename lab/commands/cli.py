# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command: each command reads its arguments and calls one function."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from lab.commands import box as box_command
from lab.commands import cca as cca_command
from lab.commands.traces import traces_app

if TYPE_CHECKING:
    from lab.runs.options import RunOptions

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="An emulation lab for one question: does a sender leave slow start at the right moment?",
)
kernel_app = typer.Typer(no_args_is_help=True, help="The virtual-time kernel and the sender modules.")
app.add_typer(kernel_app, name="kernel")
app.add_typer(traces_app, name="traces")
app.add_typer(cca_command.app, name="cca")
app.add_typer(box_command.app, name="box")
app.add_typer(box_command.image_app, name="image")
console = Console(highlight=False)


class Width(StrEnum):
    """Names of widths in lab.figures.sheet.WIDTHS_IN, which a command without figures does not load."""

    column = "column"
    page = "page"


class Form(StrEnum):
    """Names of lab.figures.save.FORMATS."""

    pdf = "pdf"
    svg = "svg"
    pgf = "pgf"


KernelVersion = Annotated[str, typer.Option("--kernel", help="Debian kernel to build: 6.12 or 6.1.")]
KernelSource = Annotated[Path | None, typer.Option("--source", help="A kernel tarball, configured like --kernel.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of a dask scheduler; default: this machine's processors.")]
NoPcap = Annotated[bool, typer.Option("--no-pcap", help="Store the tables only, without the captures.")]
ScenarioName = typer.Argument(help="A scenario's name (see `lab list`) or the path of a .yml file.")
Jobs = Annotated[int | None, typer.Option(help="Trials at the same time; default: one per processor.")]


@app.command("list")
def list_() -> None:
    """List scenarios, profiles, topologies and senders.

    Example: `lab list`
    """
    from lab.commands.inventory import lines

    console.print("\n".join(lines()), soft_wrap=True, markup=False)


@app.command("data-dictionary")
def data_dictionary() -> None:
    """Print every file, column and field of a result, as Markdown.

    Example: `lab data-dictionary`
    """
    from lab.commands.data_dictionary import lines

    console.print("\n".join(lines()), soft_wrap=True, markup=False)


@app.command()
def check() -> None:
    """Load all scenarios, profiles, topologies and senders, and report faults.

    Example: `lab check`
    """
    from lab.commands.inventory import check_all

    console.print("\n".join(check_all()), soft_wrap=True, markup=False)


@app.command()
def same(
    update: Annotated[bool, typer.Option("--update", help="Make the trials of this commit the reference.")] = False,
    jobs: Jobs = None,
) -> None:
    """Run a fixed set of trials, and compare their packets and tables with the repository's: SAME or DIFFERENT.

    Example: `lab same`
    """
    from lab.commands.same import same as compare

    compare(update, _options(jobs), console)


@app.command()
def doctor() -> None:
    """Report what is missing on this machine, and the command that fixes it.

    Example: `lab doctor`
    """
    from lab.commands.doctor import examine

    findings = examine()
    for finding in findings:
        console.print(finding.line(), soft_wrap=True, markup=False)
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)


@app.command()
def run(
    scenario: Annotated[str | None, ScenarioName] = None,
    profile: Annotated[str | None, typer.Option(help="Try this link without a scenario file; needs --cca.")] = None,
    cca: Annotated[str | None, typer.Option(help="Senders for --profile, with commas between them.")] = None,
    topology: Annotated[str | None, typer.Option(help="Topology for --profile; default: path.")] = None,
    trials: Annotated[int | None, typer.Option(help="Trials of each sender; default: the scenario's, or 3.")] = None,
    duration: Annotated[
        int | None, typer.Option(help="Seconds of each download; default: the scenario's, or 30.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; default: the scenario's, or 1.")] = None,
    jobs: Jobs = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last unfinished run.")] = False,
    scheduler: Scheduler = None,
    no_pcap: NoPcap = False,
    kernel: KernelVersion = "6.12",
    source: KernelSource = None,
    backend: Annotated[
        str | None, typer.Option(help="virtual, host or vm; default: vm if the VM is up, else virtual.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="netns, containerlab, mininet, or pair (the client on a second VM).")
    ] = None,
) -> None:
    """Run a scenario and report it.

    Example: `lab run geo --trials 2`

    Or try a link: `lab run --profile geo-viasat --cca search,cubic`
    """
    from lab.commands.run import Request, Where
    from lab.commands.run import run as run_and_report
    from lab.kernel.recipe import Recipe

    overrides = {"trials": trials, "duration_s": duration, "seed": seed}
    request = Request(scenario, profile, cca, topology, overrides)
    where = Where(backend, engine, Recipe(kernel, source))
    run_and_report(request, where, _options(jobs, scheduler, no_pcap), resume, console)


@app.command()
def reproduce(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help="Scenarios; default: each with `campaign: true`.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a tenth of the trials, at least 10 of each sender.")
    ] = False,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    no_pcap: NoPcap = False,
    mirror: Annotated[Path | None, typer.Option(help="A folder with recordings, instead of their origins.")] = None,
) -> None:
    """Fetch the recordings, run all missing trials of the campaign, and evaluate all results.

    Example: `lab reproduce --quick`

    Or of some scenarios, with their claims at the end: `lab reproduce thesis-geo`
    """
    from lab.commands.reproduce import reproduce as run_and_evaluate

    run_and_evaluate(scenarios or [], quick, _options(jobs, scheduler, no_pcap), mirror, console)


def _options(jobs: int | None, scheduler: str | None = None, no_pcap: bool = False) -> "RunOptions":
    from lab.runs.options import RunOptions, cores

    return RunOptions(cores() if jobs is None else jobs, scheduler, keep_capture=not no_pcap)


@app.command()
def evaluate(
    check: Annotated[
        bool, typer.Option("--check", help="Also run some points of the sensitivity maps in the kernel.")
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Write the tables of results/evaluation/ from the stored runs.

    Example: `lab evaluate`
    """
    from lab.commands.evaluate import check_sensitivity
    from lab.commands.evaluate import evaluate as write

    if check:
        check_sensitivity(console, _options(jobs))
    write(console, [])


@app.command()
def verify(
    scenarios: Annotated[list[str] | None, typer.Argument(help="Scenarios; default: all.")] = None,
    table: Annotated[str | None, typer.Option(help="Only one table or figure of a paper, such as 5.3.")] = None,
) -> None:
    """Compare the claims of the papers with the stored runs; nothing is written.

    Example: `lab verify thesis-geo --table 5.3`
    """
    from lab.commands.verify import verify as show

    show(scenarios or [], table, console)


@app.command()
def report(
    folder: Annotated[Path | None, typer.Argument(help="A run's folder; default: the latest run of geo.")] = None,
) -> None:
    """Write the tables, figures and page of a stored run again.

    Example: `lab report results/geo/latest`
    """
    from lab.base import paths
    from lab.commands.report import report as write
    from lab.kernel.build import find

    write(folder or paths.results() / "geo" / "latest", find(), console)


@app.command()
def figure(
    name: Annotated[str | None, typer.Argument(help="A figure's name; default: list all figures.")] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run", help="A run's folder, a scenario, or a recording's name; more than once for several links."
        ),
    ] = None,
    width: Annotated[Width, typer.Option(help="Of a paper with two columns: 3.3 or 7 inches.")] = Width.column,
    form: Annotated[
        Form, typer.Option("--format", help="pgf needs LaTeX, which sets the text in the paper's font.")
    ] = (Form.pdf),
    footer: Annotated[
        bool | None,
        typer.Option(
            "--footer/--no-footer",
            help="Write the provenance of the link below the figure too; default: with --width page.",
        ),
    ] = None,
    style: Annotated[
        str | None,
        typer.Option(help="Your style file of matplotlib, or an installed style's name, over the lab's own."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder; default: results/paper.")] = None,
) -> None:
    """Draw a figure for a paper, with its caption in a .tex file next to it.

    Example: `lab figure exit_times --run thesis-geo`
    """
    from lab.base import paths
    from lab.commands.figure import Sheet, lines, write
    from lab.kernel.build import find
    from lab.report.paper import Sources

    if name is None:
        console.print("\n".join(lines()), soft_wrap=True, markup=False)
        return
    kernel = find()
    sources = Sources(run or [], kernel.replay_library if kernel else None)
    sheet = Sheet(width.value, form.value, footer, style)
    for line in write(name, sources, sheet, out or paths.results() / "paper"):
        console.print(line, soft_wrap=True, markup=False)


@app.command()
def page(
    folder: Annotated[Path | None, typer.Argument(help="The folder of all results; default: results/.")] = None,
) -> None:
    """Write index.html of all results: the papers' tables and figures, every trial.

    Example: `lab page`
    """
    from lab.base import paths
    from lab.commands.evaluate import page as write

    write(folder or paths.results(), console)


@app.command()
def agree(
    scenario: Annotated[
        str, typer.Argument(help="A scenario with runs on several backends or engines.")
    ] = "engines-agree",
) -> None:
    """Compare the latest runs of a scenario by backend and engine.

    Example: `lab agree engines-agree`
    """
    from lab.base import paths
    from lab.report import agree as places
    from lab.report.text import shown
    from lab.schema.scenario import load_scenario

    name, loaded = load_scenario(scenario)
    runs = places.latest(paths.results() / name)
    compared = [places.place_run(run, places.judged_by(run, loaded.heuristic)) for run in runs]
    console.print(shown((), (places.table(compared),), console.width))


@app.command()
def clean(
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove kernels and images: the next run builds them.")
    ] = False,
) -> None:
    """Remove unfinished trials and other leftovers; results stay.

    Example: `lab clean`
    """
    from lab.commands.clean import tidy

    for removed in tidy(cache):
        console.print(f"removed {removed}", soft_wrap=True, markup=False)


@kernel_app.command()
def build(
    kernel: KernelVersion = "6.12",
    source: KernelSource = None,
    sanitize: Annotated[bool, typer.Option("--sanitize", help="Build with the kernel's bug checkers: slow.")] = False,
) -> None:
    """Build the virtual-time kernel and the modules that the cache lacks.

    Example: `lab kernel build`
    """
    from lab.commands.prepare import prepare
    from lab.kernel.recipe import Recipe

    virtual = prepare(Recipe(kernel, source, sanitize), console)
    lines = [
        f"kernel   {virtual.kernel.linux}",
        f"modules  {virtual.kernel.modules}",
        f"world    {virtual.world.root}",
    ]
    console.print("\n".join(lines), soft_wrap=True, markup=False)


@app.command()
def bench(
    seconds: Annotated[int, typer.Option(help="Virtual seconds of the timed trial.")] = 30,
) -> None:
    """Measure how fast trials run, as ratios on this machine.

    Example: `lab bench`
    """
    from lab.bench.speed import measure
    from lab.commands.prepare import prepare
    from lab.kernel.recipe import Recipe

    measure(seconds, prepare(Recipe(), console), console)
