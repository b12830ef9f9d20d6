# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab kick-tires`: one trial over each kind of link, then half of `lab same`, and a page of it all."""

from dataclasses import dataclass
from pathlib import Path

import typer
from lab_compare.stand_ins import lack_of
from rich.console import Console

from lab.backends.backend import Site
from lab.base import paths
from lab.base.errors import Faults
from lab.base.format import number
from lab.base.plain_file import write_whole
from lab.base.workers import one_pool
from lab.commands.lines import say
from lab.commands.prepare import prepare
from lab.commands.progress import TrialBar
from lab.judge.stored import Stored
from lab.kernel.recipe import Recipe
from lab.report.template import render as render_page
from lab.runs.execute import execute
from lab.runs.experiment import Experiment, try_link
from lab.runs.find_run import none
from lab.runs.options import RunOptions
from lab.tables.stored_run import Run
from lab_papers.commands.same import SameRequest, judged

HEADER = ("link", "sender", "left slow start, s", "class", "throughput, Mb/s", "certificate")


@dataclass(frozen=True)
class Tire:
    """What one trial gave; cells in the order of HEADER."""

    cells: tuple[str, ...]
    title: str
    valid: bool  # or not run, for want of a recording

    @property
    def line(self) -> str:
        """Return it for a terminal."""
        link, sender, exit_s, kind, mbps, certificate = self.cells
        if not sender:
            return f"{link:14} {certificate}"
        return f"{link:14} {sender} leaves slow start after {exit_s} s ({kind}), {mbps} Mb/s; certificate {certificate}"


def not_run(profile: str, title: str, lack: str) -> Tire:
    """Describe a link that could not run for want of a recording."""
    return Tire((profile, *[""] * 4, f"not run: {lack}"), title, valid=True)


def row(one: Stored) -> Tire:
    """Describe the only trial of a run."""
    outcome = one.judged.outcomes.filter(heuristic=one.run.scenario["heuristic"]).row(0, named=True)
    sender = one.label(outcome["cca"])
    kind = outcome["exit_class"] or "no exit"
    numbers = (number(outcome["exit_s"], 2), number(outcome["throughput_mbps"], 1))
    certificate = "valid" if outcome["valid"] else "INVALID"
    cells = (str(one.run.scenario["profile"]), sender, numbers[0], kind, numbers[1], certificate)
    return Tire(cells, str(one.run.meta["profile"]["title"]), bool(outcome["valid"]))


def render(rows: list[Tire], verdict: str) -> str:
    """Return the page, with the verdict of `lab same`."""
    return render_page("tires.html.j2", Path(__file__).parent, header=HEADER, rows=rows, verdict=verdict)


SENDER = "search"
# One link of each kind, and the virtual seconds in which SEARCH leaves slow start there.
LINKS = {"geo-viasat": 20, "leo-starlink": 8, "lte-hotspot": 10, "wifi-strong": 5, "wifi-weak": 5, "wired-clean": 5}
PAGE = "kick-tires.html"
FIRST = ("*/*-001",)  # `lab same` compares two of each run and sender


def kick(options: RunOptions, console: Console) -> None:
    """Run the trials, compare packets, and write the page; exit status 1 where something is not as it must be."""
    say(
        console,
        f"one trial of {SENDER} over each of {len(LINKS)} links, {options.workers} at once, then half of lab same",
    )
    experiments = [at_hand(profile, duration_s) for profile, duration_s in LINKS.items()]
    backend = prepare(Recipe(), console)
    with one_pool():
        rows = _rows(experiments, backend.site, options, console)
        verdict = judged(SameRequest(only=FIRST), options, console)
    file = write_whole(_folder() / PAGE, render(rows, verdict.text))
    console.print(f"page      {file}", soft_wrap=True, markup=False)
    if len(rows) < len(LINKS) or not all(each.valid for each in rows) or not verdict.same:
        raise typer.Exit(1)


def _rows(experiments: list[Experiment], site: Site, options: RunOptions, console: Console) -> list[Tire]:
    """Run the trials; print what each gave, and why one gave nothing."""
    lacks = {each.name: lack for each in experiments if (lack := lack_of(each))}
    with TrialBar(console, many_runs=True) as bar:
        at_hand = [each for each in experiments if each.name not in lacks]
        executed = execute(at_hand, none, site, options, bar, alone=True)
    say(console, *Faults(executed.refusals).lines, *(line for run in executed.runs for line in run.failures))
    rows = [row(Stored.of(Run(run.folder))) for run in executed.runs if not run.failures]
    absent = [each for each in experiments if each.name in lacks]
    rows += [not_run(each.scenario.profile, each.profile.title, lacks[each.name]) for each in absent]
    for each in rows:
        say(console, each.line)
    return rows


def at_hand(profile: str, duration_s: int) -> Experiment:
    """Return the trial over a link, or over its stand-in where the link's recording is not fetched."""
    experiment = _experiment(profile, duration_s)
    stand_in = experiment.profile.stand_in
    return _experiment(stand_in, duration_s) if stand_in and lack_of(experiment) else experiment


def _experiment(profile: str, duration_s: int) -> Experiment:
    return try_link(profile, [SENDER], {"trials": 1, "duration_s": duration_s})


def _folder() -> Path:
    paths.results().mkdir(parents=True, exist_ok=True)
    return paths.results()
