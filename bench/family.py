# SPDX-License-Identifier: GPL-2.0-or-later
"""The start-up family over every kind of link, as a published measurement and on the first page of results.

`python -m bench.family [--trials N] [--links a,b]` runs what is not stored, link by link, in
results/family-<link>/, which `lab page` shows. It stores exits and ranks of every link that has a run in
results/bench/family.json.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from lab_compare.command import fetched
from lab_compare.comparison import SEED, Comparison
from lab_compare.exits import Exits, exits_of
from lab_compare.link_kinds import KINDS, Link
from lab_compare.link_kinds import links as links_of
from lab_compare.ranks import RankedPlace
from lab_compare.results import of_run
from lab_papers.fullest import first_stored
from rich.console import Console

from bench.measured import Figure, store
from lab.backends.virtual import Virtual
from lab.base import paths
from lab.base.errors import UserError
from lab.commands.prepare import prepare, run_all
from lab.kernel.recipe import Recipe
from lab.runs.experiment import Experiment
from lab.runs.options import RunOptions
from lab.schema.cca import load_ccas

TRIALS, MEASURE, PREFIX = 12, "chokepoint", "family-"
STAYED, UNJUDGED = "never left", "not judged"
# Those that this checkout has take part.
FAMILY = "search9 search rapid_start bbr3 c4 vivace copa best suss leocc hystartpp cubic cubic_plain bbr".split()
ALONE = ",".join(name for name, link in KINDS.items() if not link.rival)


def measure(
    trials: Annotated[int, typer.Option(min=1, max=1000, help="Trials of each sender on each link.")] = TRIALS,
    links: Annotated[str, typer.Option(help="Kinds of link, by commas.")] = ALONE,
) -> None:
    """Run what is missing and store the ranks."""
    try:
        print(_measured(trials, links, Console(highlight=False)))
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


def _measured(trials: int, names: str, console: Console) -> Path:
    known, virtual = load_ccas(), prepare(Recipe(), console)
    senders = {name: known[name] for name in FAMILY if name in known}
    comparison = Comparison([next(iter(senders))], senders, links_of(names.split(",")), trials, SEED, fixed=True)
    comparison = fetched(comparison, console)
    for link in comparison.links:  # one after the other: what is interrupted is not lost
        _run(_experiment(comparison, link), virtual, console)
    given = [f"--trials {trials}"] * (trials != TRIALS) + [f"--links {names}"] * (names != ALONE)
    command = "make bench-family" + (f' BENCH="{" ".join(given)}"' if given else "")
    return store("family", command, list(_figures(list(senders))))


def _experiment(comparison: Comparison, link: Link) -> Experiment:
    """Return a link's trials as a run of its own, which the first page of results shows."""
    made = comparison.experiment(link, comparison.trials)
    changes = {"question": f"How does the start-up family leave slow start on {link.title}?", "in_summary": True}
    return replace(made, name=f"{PREFIX}{link.name}", scenario=made.scenario.model_copy(update=changes))


def _run(experiment: Experiment, virtual: Virtual, console: Console) -> None:
    """Run what a link lacks; a trial without a result is named."""
    for run in run_all([experiment], virtual, RunOptions(keep_capture=False), console):
        for line in run.failures:
            console.print(line, markup=False)


def _figures(senders: list[str]) -> Iterator[Figure]:
    for link in KINDS:
        stored = first_stored(paths.results(), [f"{PREFIX}{link}"])
        if stored:
            found = of_run(stored)
            ranks = {} if MEASURE in found.unranked else found.places[MEASURE]
            yield from figures(link, exits_of(found), ranks, senders)


def figures(
    link: str, exits: Mapping[str, Exits], ranks: Mapping[str, RankedPlace], senders: list[str]
) -> Iterator[Figure]:
    """Give each sender's exits by class, and its rank on a link."""
    for sender in (name for name in senders if name in exits):
        left, about = exits[sender], f"{link}, {sender}"
        counts = {**left.counts, STAYED: sum(each.t_s is None for each in left.by_trial.values())}
        counts[UNJUDGED] = len(left.by_trial) - sum(counts.values())
        for name, count in counts.items():
            yield {"name": f"{about}: {name}", "value": count, "unit": "trials"}
        yield {"name": f"{about}: rank", "value": rank(ranks.get(sender), len(ranks)), "unit": f"of {len(ranks)}"}


def rank(place: RankedPlace | None, count: int) -> str | None:
    """Format a rank: `1`, or `2-5` where senders have not separated; none where it has separated from no other."""
    if place is None or (place.best, place.worst) == (1, count):
        return None
    return str(place.best) if place.best == place.worst else f"{place.best}-{place.worst}"


if __name__ == "__main__":
    typer.run(measure)
