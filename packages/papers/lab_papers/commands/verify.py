# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab verify`: the claims of the papers against the stored runs, without writing anything."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

import polars as pl
import typer
from rich.console import Console

from lab.base import paths
from lab.base.choice import choose, one_of
from lab.base.errors import COMMAND_LINE, field_error
from lab.commands.lines import say
from lab_papers.commands.claim_lines import clocks, counted, lines, not_run, reasons
from lab_papers.evaluation.claims.numbered import covered
from lab_papers.evaluation.kept import FOLDER, evaluation, is_own, newer_runs, with_counterfactuals
from lab_papers.fullest import LATEST

KINDS = ("table ", "figure ")  # before a number, in the name of a place


def verify(names: Sequence[str], table: str | None, console: Console) -> None:
    """Print the claims of some scenarios, or of all; a claim that differs is a result, not a failure.

    Exit status 1 where no run is stored, or one cannot be read.
    """
    stems = [Path(name).stem if name.endswith(".yml") else name for name in names]
    claims, notes, faults = claims_of(paths.results(), stems)
    chosen = _chosen(claims, stems, table)
    having_claims = chosen["scenario"].unique(maintain_order=True).to_list()
    if not any((paths.results() / name / LATEST).exists() for name in having_claims):
        for line in not_run(having_claims, console.width):  # nothing to compare, and nothing to count
            say(console, line)
        raise typer.Exit(1)
    for text in lines(chosen, console.width):
        console.print(text, soft_wrap=True)
    below = (*reasons(chosen, console.width), *counted(chosen, console.width), *clocks(chosen), *notes)
    for line in (*below, *faults):
        say(console, line)
    if faults:
        raise typer.Exit(1)


def cover(names: Sequence[str], table: str | None, console: Console) -> None:
    """Print what became of every place of the sources, of all of them together."""
    for field, given in (("scenario", names[0] if names else None), ("table", table)):
        if given is not None:
            raise field_error(COMMAND_LINE, field, given, "left out with --coverage, which lists all")
    for line in coverage_lines(console.width):
        say(console, line)


def coverage_lines(width: int) -> Iterator[str]:
    """Yield every place of the sources with what it states and what became of it, and how many are claims."""
    places = covered()
    for one in places:
        says = f": {one.entry.says}" if one.entry.says else ""
        yield from wrap(f"{one.entry.place}{says}", width, break_on_hyphens=False)
        yield from wrap(one.how, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    judged = sum(bool(one.claims) for one in places)
    yield f"{len(places)} places of the papers: {judged} are judged as claims"


def claims_of(results: Path, names: Sequence[str]) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Return the stored claims, or judge them where a run is newer; then what to note, and the faults of runs."""
    wanted = with_counterfactuals(names) if names else None
    newer = newer_runs(results, wanted)
    kept = evaluation(results, "claims") if not newer and is_own(results) else None
    if kept is not None:
        return kept, [f"claims    {results / FOLDER / 'claims.csv'}"], []
    from lab.kernel.build import find
    from lab_papers.evaluation.write import NO_REPLAY, judge_claims  # slow to import, and mostly not needed

    kernel = find()
    claims, faults = judge_claims(results, kernel.replay_library if kernel else None, wanted)
    notes = [] if kernel else [NO_REPLAY]
    newest = f"newer than the tables: {', '.join(newer)}: " if newer else ""
    return claims, [*notes, f"judged now, and not stored: {newest}lab evaluate"], faults


def _chosen(claims: pl.DataFrame, names: Sequence[str], table: str | None) -> pl.DataFrame:
    """Return the claims of some scenarios, and of one table; UserError names those that there are."""
    known = claims["scenario"].unique(maintain_order=True).to_list()
    chosen = [choose("scenario with claims", name, known, COMMAND_LINE, "scenario") for name in names]
    rows = claims.filter(pl.col("scenario").is_in(chosen)) if chosen else claims
    if table is None:
        return rows
    places = {_number(place): place for place in rows["place"].unique(maintain_order=True)}
    place = places.get(_number(table))
    if place is None:
        raise field_error(COMMAND_LINE, "table", table, one_of(table, places))
    return rows.filter(place=place)


def _number(place: str) -> str:
    """Return a place without the kind before its number: 5.3 of `table 5.3`."""
    for kind in KINDS:
        place = place.removeprefix(kind)
    return place
