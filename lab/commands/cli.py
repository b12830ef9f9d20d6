# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab` command: each command reads its arguments and calls one function."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from lab.commands import box as box_command
from lab.commands import bundle as bundle_command
from lab.commands import cca as cca_command
from lab.commands import senders as senders_command
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
app.add_typer(senders_command.app, name="senders")
app.add_typer(box_command.app, name="box")
app.add_typer(box_command.image_app, name="image")
app.add_typer(bundle_command.app, name="bundle")
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
Shaper = Annotated[str, typer.Option(help="replay (the lab's own qdiscs), or netem (netem and tbf, by tc alone).")]
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
    only: Annotated[str, typer.Option(help="Trials whose name matches one of these patterns, by comma.")] = "*",
    jobs: Jobs = None,
) -> None:
    """Run a fixed set of trials, and compare their packets and tables with the repository's: SAME or DIFFERENT.

    Example: `lab same`, or of some trials `lab same --only 'senders/search*,geo-*'`
    """
    from lab.commands.same import SameRequest
    from lab.commands.same import same as compare

    compare(SameRequest(update, tuple(only.split(","))), _options(jobs), console)


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
    shaper: Shaper = "replay",
) -> None:
    """Run a scenario and report it.

    Example: `lab run geo --trials 2`

    Or try a link: `lab run --profile geo-viasat --cca search,cubic`
    """
    from lab.commands.run import Request, Where
    from lab.commands.run import run as run_and_report
    from lab.kernel.recipe import Recipe

    overrides = {"trials": trials, "duration_s": duration, "seed": seed}
    request = Request(scenario, profile, cca, topology, overrides, shaper)
    where = Where(backend, engine, Recipe(kernel, source))
    run_and_report(request, where, _options(jobs, scheduler, no_pcap), resume, console)


@app.command("try")
def try_(
    sources: Annotated[list[Path], typer.Argument(help="C files, or folders with a Kbuild: one module each.")],
    links: Annotated[
        str | None, typer.Option(help="Kinds of link or profiles, with commas between them; default: every kind.")
    ] = None,
    against: Annotated[str, typer.Option(help="Senders of the lab to compare with.")] = "cubic,search,bbr",
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter of the module, such as gain=3; may be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One trial of each sender on each link, no reports.")] = False,
    trials: Annotated[int | None, typer.Option(help="Most trials of each sender on each link.")] = None,
    duration: Annotated[int | None, typer.Option(help="Seconds of each download; default: the link's.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the links.")] = None,
    budget: Annotated[float | None, typer.Option(help="Most minutes of trials.")] = None,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Build the sanitized kernel for the smoke test if it is missing.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last unfinished comparison.")] = False,
    jobs: Jobs = None,
    no_pcap: NoPcap = False,
    backend: Annotated[str | None, typer.Option(help="virtual (the default) or vm.")] = None,
    engine: Annotated[str | None, typer.Option(help="netns, containerlab or mininet, in the VM.")] = None,
) -> None:
    """Compare a congestion control of your own with the lab's senders.

    Example: `lab try my_cc.c --quick`

    Two versions side by side: `lab try a.c b.c --links geo,leo --against search --param gain=3`
    """
    from lab.commands.compare import Course
    from lab.commands.try_own import TryRequest, try_own

    request = TryRequest(
        tuple(sources), tuple(param or ()), against, links, trials, duration, seed, quick, sanitize, backend, engine
    )
    again = f"lab try {' '.join(map(str, sources))} --resume"
    course = Course(budget_minutes=budget, resume=resume, again=again)
    try_own(request, course, _options(jobs, None, no_pcap), console)


@app.command()
def log(
    run: Annotated[Path, typer.Argument(help="A run's folder, such as results/geo/latest.")],
    trial: Annotated[str, typer.Argument(help="A trial, such as cubic-001.")],
) -> None:
    """Show what the kernel of a trial printed, also of a trial without a result.

    Example: `lab log results/geo/latest cubic-001`
    """
    from lab.base.plain_text import escaped
    from lab.tables.kernel_log import read_log

    for line in read_log(run, trial).splitlines():
        console.print(escaped(line), soft_wrap=True, markup=False)


@app.command()
def replay(
    profile: Annotated[str, typer.Argument(help="A profile's name (see `lab list`) or the path of a .yml file.")],
    link: Annotated[
        str, typer.Option(help="NODE:IFACE: a network namespace, Mininet host or container, and its interface.")
    ],
    delay: Annotated[
        str | None, typer.Option(help="NODE:IFACE of the delay, where it is another one than the bottleneck's.")
    ] = None,
    way: Annotated[str, typer.Option(help="The profile's direction: down or up.")] = "down",
    seed: Annotated[int, typer.Option(help="Seed: the link is that of trial 1 of `lab run --profile`.")] = 1,
    duration: Annotated[int, typer.Option(help="Seconds; Ctrl-C ends it earlier.")] = 30,
    shaper: Shaper = "netem",
) -> None:
    """Replay a profile on an interface of your own network, as root, and take everything down at the end.

    Example: `lab replay agree --link clab-path-gateway:eth2`
    """
    from lab.commands.replay import Where
    from lab.commands.replay import replay as replay_there

    replay_there(profile, Where(link, delay, way), seed, duration, shaper, console)


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
    claim: Annotated[str | None, typer.Option(help="Only what one claim of ARTIFACT.md needs, such as C3.")] = None,
) -> None:
    """Fetch the recordings, run all missing trials of the campaign, and evaluate all results.

    Example: `lab reproduce --quick`

    Or of some scenarios, with their claims at the end: `lab reproduce thesis-geo`
    """
    from lab.commands.reproduce import reproduce as run_and_evaluate
    from lab.commands.reproduce import reproduce_claim

    if claim is not None:
        reproduce_claim(claim, scenarios or [], quick, _options(jobs, scheduler, no_pcap), mirror, console)
        return
    run_and_evaluate(scenarios or [], quick, _options(jobs, scheduler, no_pcap), mirror, console)


@app.command()
def compare(
    cca: Annotated[str, typer.Option(help="Senders, with commas between them; the first is compared with each other.")],
    links: Annotated[
        str | None,
        typer.Option(
            help="Kinds of link or profiles, with commas between them: geo, geo-published, leo, lte, 5g, wifi-high, "
            "wifi-low, wired, wired-shared (next to CUBIC); default: every kind."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option(help="Most trials of each sender on each link; default: 12, with --quick 1.")
    ] = None,
    duration: Annotated[int | None, typer.Option(help="Seconds of each download; default: the link's own.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the links' draws; default: 18.")] = None,
    measure: Annotated[str, typer.Option(help="What decides when a link has enough trials.")] = "chokepoint",
    quick: Annotated[bool, typer.Option("--quick", help="One trial per link, and no reports of the runs.")] = False,
    budget_minutes: Annotated[float | None, typer.Option(help="Most minutes of trials.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last comparison, with the same options.")] = (
        False
    ),
    jobs: Jobs = None,
    no_pcap: NoPcap = False,
) -> None:
    """Compare senders over kinds of link, and rank them on one page.

    Example: `lab compare --cca search,cubic,bbr,hystartpp --links geo,leo`

    With a sender that others wrote (`lab senders list`): `lab compare --cca search,pcc_vivace`
    """
    from lab.commands.compare import Chosen, Course, compare_known

    chosen = Chosen(cca, links, trials, duration, seed, quick)
    compare_known(chosen, Course(measure, budget_minutes, resume), _options(jobs, None, no_pcap), console)


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
def artifact(
    bundle: Annotated[
        Path | None, typer.Option(help="A bundle for the archive; default: a new one is left to you.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder; default: results/artifact.")] = None,
) -> None:
    """Write ARTIFACT.md, the appendix in LaTeX, and the archive for a deposit, from the stored runs.

    Example: `lab artifact --bundle search-lab.bundle`
    """
    from lab.base import paths
    from lab.commands.artifact import write

    for line in write(bundle, out or paths.results() / "artifact"):
        console.print(line, soft_wrap=True, markup=False)


@app.command("kick-tires")
def kick_tires(jobs: Jobs = None) -> None:
    """Run one trial over every kind of link, and write one page of what came out.

    Example: `lab kick-tires`
    """
    from lab.commands.kick_tires import kick

    kick(_options(jobs), console)


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
