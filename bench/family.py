# SPDX-License-Identifier: GPL-2.0-or-later
"""The start-up family ranked over every kind of link: one comparison, as a published measurement.

`python -m bench.family [--trials N] [--links a,b]` runs what no earlier comparison has, link by link, and stores ranks
and shares in results/bench/family.json. The page of all links is that of the last comparison, results/comparisons/.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from bench.measured import Figure, store
from lab.backends.virtual import Virtual
from lab.base.errors import UserError
from lab.commands import first_use
from lab.commands.compare import Compared, Course, compare, fetched
from lab.commands.prepare import prepare
from lab.evaluation.compare.comparison import SEED, Comparison
from lab.kernel.recipe import Recipe
from lab.report.compare.forms import ranks
from lab.runs.link_kinds import links
from lab.runs.options import RunOptions
from lab.schema.cca import Cca, load_ccas

TITLE = "The start-up family over every kind of link"
NOTE = (
    "At the chokepoint by the lasting truth, of the trials; the rank with all others of the link: an interval, "
    "separated by the exact test of lab compare. Careful Resume is left out: without a saved window it is CUBIC "
    "without HyStart, packet for packet."
)
TRIALS = 12
MEASURE = "chokepoint"
# Those that this checkout has take part; the first is the subject.
FAMILY = "search9 search rapid_start bbr3 c4 vivace copa best suss leocc hystartpp cubic cubic_plain bbr".split()


def family() -> list[str]:
    """Return the members that there are."""
    known = load_ccas()
    return [name for name in FAMILY if name in known]


def measure(
    trials: Annotated[int, typer.Option(min=1, max=1000, help="Trials of each sender on each link.")] = TRIALS,
    link_names: Annotated[
        str | None, typer.Option("--links", help="Kinds of link, by commas; all if left out.")
    ] = None,
) -> None:
    """Run what is missing and store the ranks."""
    try:
        print(_measured(trials, link_names, Console(highlight=False)))
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None


def _measured(trials: int, link_names: str | None, console: Console) -> Any:
    senders, virtual = first_use.built(
        {name: load_ccas()[name] for name in family()}, prepare(Recipe(), console), console
    )
    chosen = links(link_names.split(",") if link_names else None)
    for link in chosen:  # each alone first: what is interrupted is not lost
        _compared(senders, (link,), trials, virtual, console)
    done = _compared(senders, chosen, trials, virtual, console)
    found = [figure for row in ranks(done[0], done[1].found).iter_rows(named=True) for figure in figures(row)]
    return store("family", "make bench-family" + _options(trials, link_names), found, {"title": TITLE, "note": NOTE})


def _options(trials: int, link_names: str | None) -> str:
    given = [f"--trials {trials}"] * (trials != TRIALS) + [f"--links {link_names}"] * bool(link_names)
    return f' BENCH="{" ".join(given)}"' if given else ""


def _compared(
    senders: Mapping[str, Cca], chosen: Any, trials: int, virtual: Virtual, console: Console
) -> tuple[Comparison, Compared]:
    subject = next(iter(senders))
    comparison = fetched(Comparison([subject], senders, chosen, trials, SEED, fixed=True), console)
    options = RunOptions(keep_capture=False)
    return comparison, compare(comparison, Course(MEASURE, reports=False), virtual.site, options, console)


def figures(row: Mapping[str, Any]) -> Iterator[Figure]:
    """Give a sender's share and rank on a link, of the row of the measure that ranks."""
    if row["measure"] != MEASURE:
        return
    subject = f"{row['link']}, {row['sender']}"
    hits = None if row["mean"] is None else round(row["mean"] * row["trials"])
    yield {"name": f"{subject}: trials", "value": row["trials"], "unit": ""}
    yield {"name": f"{subject}: at the chokepoint", "value": hits, "unit": "trials"}
    yield {"name": f"{subject}: rank", "value": rank(row["rank_best"], row["rank_worst"]), "unit": ""}


def rank(best: int | None, worst: int | None) -> str | None:
    """Format a rank: `1`, or `2-5` where senders have not separated."""
    return None if best is None else str(best) if best == worst else f"{best}-{worst}"


if __name__ == "__main__":
    typer.run(measure)
