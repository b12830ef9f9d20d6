# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that repeat the papers: each reads its arguments and calls one function."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from lab_formats.cli import Figures, FormatName, Name, Settings

from lab.base.errors import UserError
from lab.commands.cli_options import SELDOM, Jobs, NoPcap, Scheduler, ShardFolder, Shards, console, run_options
from lab.commands.known import require_scenarios
from lab.commands.lines import say, show_rows


class Width(StrEnum):
    """Names of widths in lab_papers.paper_sheet.WIDTHS_IN, which a command without figures does not load."""

    column = "column"
    page = "page"


class Form(StrEnum):
    """Names of lab_papers.commands.figure.FORMATS."""

    pdf = "pdf"
    svg = "svg"
    pgf = "pgf"


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
    shard: Shards = None,
    out: ShardFolder = None,
) -> None:
    """Fetch the recordings, run all missing trials of the campaign, and evaluate all results.

    Example: `lab reproduce --quick`

    Or of some scenarios, with their claims at the end: `lab reproduce thesis-geo`
    """
    require_scenarios(scenarios or ())
    from lab.commands.part import Part
    from lab_papers.commands.reproduce import Requested, reproduce_claim, reproduce_part
    from lab_papers.commands.reproduce import reproduce as run_and_evaluate

    if part := Part.of(shard, out):
        requested = Requested(scenarios or [], quick, claim, mirror, scheduler)
        reproduce_part(requested, part, run_options(jobs, None, no_pcap), console)
        return
    if claim is not None:
        reproduce_claim(claim, scenarios or [], quick, run_options(jobs, scheduler, no_pcap), mirror, console)
        return
    run_and_evaluate(scenarios or [], quick, run_options(jobs, scheduler, no_pcap), mirror, console)


def verify(
    scenarios: Annotated[list[str] | None, typer.Argument(help="Scenarios; default: all.")] = None,
    table: Annotated[str | None, typer.Option(help="Only one table or figure of a paper, such as 5.3.")] = None,
    coverage: Annotated[
        bool,
        typer.Option(
            "--coverage",
            rich_help_panel=SELDOM,
            help="List every table, figure and numbered sentence of the papers: claim, figure, or why neither.",
        ),
    ] = False,
) -> None:
    """Compare the claims of the papers with the stored runs; nothing is written.

    Example: `lab verify thesis-geo --table 5.3`
    """
    require_scenarios(scenarios or ())
    from lab_papers.commands.verify import cover
    from lab_papers.commands.verify import verify as show

    if coverage:
        cover(scenarios or [], table, console)
    else:
        show(scenarios or [], table, console)


def page(
    folder: Annotated[Path | None, typer.Argument(help="The folder of all results; default: results/.")] = None,
) -> None:
    """Write index.html of all results: the papers' tables and figures, every trial.

    Example: `lab page`
    """
    from lab.base import paths
    from lab_papers.commands.evaluate import page as write

    if folder and not folder.is_dir():
        raise UserError(f"{folder}: must be the folder of all results")
    write(folder or paths.results(), console)


def figure(
    name: Annotated[str | None, typer.Argument(help="A figure's name; default: list all figures.")] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(help="A run's folder, a scenario, or a recording's name; more than once for several links."),
    ] = None,
    width: Annotated[Width, typer.Option(help="Of a paper with two columns: 3.3 or 7 inches.")] = Width.column,
    form: Annotated[
        Form, typer.Option("--format", help="pgf needs LaTeX, which sets the text in the paper's font.")
    ] = (Form.pdf),
    footer: Annotated[
        bool, typer.Option("--footer", help="Write the provenance of the link below the figure too; with --width page.")
    ] = False,
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
    from lab_papers.commands.figure import Sheet, listing, write
    from lab_papers.paper import Sources
    from lab_papers.search_replay import replay_library

    if name is None:
        show_rows(console, listing())
        return
    sources = Sources(run or [], replay_library())
    sheet = Sheet(width.value, form.value, footer, style)
    for line in write(name, sources, sheet, out or paths.results() / "paper"):
        say(console, line)


def evaluate(
    check: Annotated[
        bool, typer.Option("--check", help="Also run some points of the sensitivity maps in the kernel.")
    ] = False,
    jobs: Jobs = None,
) -> None:
    """Write the tables of results/evaluation/ from the stored runs.

    Example: `lab evaluate`
    """
    from lab_papers.commands.evaluate import check_sensitivity
    from lab_papers.commands.evaluate import evaluate as write

    if check:
        check_sensitivity(console, run_options(jobs))
    write(console, [])


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
    from lab_papers.commands.artifact import write

    for line in write(bundle, out or paths.results() / "artifact"):
        say(console, line)


def data_dictionary() -> None:
    """Print every file, column and field of a result, as Markdown.

    Example: `lab data-dictionary`
    """
    from lab_papers.commands.data_dictionary import lines

    say(console, *lines())


def kick_tires(jobs: Jobs = None) -> None:
    """Run one trial over every kind of link, and write one page of what came out.

    Example: `lab kick-tires`
    """
    from lab_papers.commands.kick_tires import kick

    kick(run_options(jobs), console)


def compare(
    run: Annotated[Path, typer.Argument(help="A run's folder, such as results/geo-recorded/latest.")],
    names: Annotated[
        list[str] | None, typer.Argument(help="Logs of ACKs, by name or as files; default: all that are fetched.")
    ] = None,
    out: Figures = None,
) -> None:
    """Compare recorded downloads with emulated ones.

    Example: `lab traces compare results/geo-recorded/latest`
    """
    from lab_papers.commands.traces import compare as lay

    lay(run, names or [], out, console)


def spectrum(
    name: Name,
    window_s: Annotated[
        float | None, typer.Option(help="Window of the transform; default: 20 minimum round-trip times.")
    ] = None,
    form: FormatName = None,
    settings: Settings = None,
    out: Figures = None,
) -> None:
    """Find the cycle of the round-trip times.

    Example: `lab traces spectrum leo-leocc/delay_example`
    """
    from lab_formats.named import find

    from lab_papers.commands.traces import show_spectrum

    for line in show_spectrum(find(name, form, settings or []), name, window_s, out, console.width):
        say(console, line)


def same(
    update: Annotated[bool, typer.Option("--update", help="Make the trials of this commit the reference.")] = False,
    only: Annotated[str, typer.Option(help="Trials whose name matches one of these patterns, by comma.")] = "*",
    jobs: Jobs = None,
) -> None:
    """Run a fixed set of trials, and compare their packets and tables with the repository's: SAME or DIFFERENT.

    Example: `lab same`, or of some trials `lab same --only 'senders/search*,geo-*'`
    """
    from lab_papers.commands.same import SameRequest
    from lab_papers.commands.same import same as compare

    compare(SameRequest(update, tuple(only.split(","))), run_options(jobs), console)
