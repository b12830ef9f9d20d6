# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab verify`: the claims of the papers against the stored runs, without writing anything."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import polars as pl
import typer
from rich.console import Console
from rich.text import Text

from lab.base import paths
from lab.base.choice import choose, one_of
from lab.base.errors import COMMAND_LINE, field_error
from lab.commands.lines import say
from lab.judge.clock import CLOCKS
from lab.runs.run_folder import LATEST
from lab_papers.evaluation.claims import verdict as verdicts
from lab_papers.evaluation.claims.difference import compared, of_claim, signed
from lab_papers.evaluation.claims.estimate import SHARES
from lab_papers.evaluation.claims.numbered import covered
from lab_papers.evaluation.claims.rows import NOT_RUN
from lab_papers.evaluation.claims.sentences import short
from lab_papers.evaluation.kept import FOLDER, evaluation, is_own, newer_runs, with_counterfactuals

CHARS = 80
FEW = 5  # scenarios that a command names; without names it runs all of the campaign
TINY = 0.1  # below it two digits must do
SHOWN = {  # a word of each verdict, and its colour
    verdicts.AGREES: ("agrees", "green"),
    verdicts.EXPLAINED: ("explained", "cyan"),
    verdicts.PARTLY: ("partly", "yellow"),
    verdicts.UNEXPLAINED: ("differs", "red"),
    verdicts.OPEN: ("open", "magenta"),
    verdicts.UNJUDGED: ("unjudged", "dim"),
}
EXCLUDED = "*"  # behind `agrees`
HEADER = ("", "paper", "within", "here [95 %]", "n", "differs", "verdict")
CERTAIN = "!"
SIGNS = {"at_most": "\N{LESS-THAN OR EQUAL TO}", "at_least": "\N{GREATER-THAN OR EQUAL TO}"}
FOOTNOTE = f"{EXCLUDED} within the tolerance, but our 95 % interval excludes the published value"
Cells = tuple[str, str, str, str, str, str, str]
KINDS = ("table ", "figure ")  # before a number, in the name of a place


def lines(claims: pl.DataFrame, width: int) -> Iterator[Text]:
    """Yield a heading for each row of a source's table, and a line for each of its values, if its scenario has run."""
    judged = claims.filter(pl.col("why").is_null() | (pl.col("why") != NOT_RUN))
    if judged.height:
        yield Text(_aligned(HEADER), style="bold")
    for (*about, form, name), rows in judged.group_by(
        ["document", "place", "row", "form", "scenario"], maintain_order=True
    ):
        heading = f"{', '.join(map(str, about))}: {form} ({name})"
        yield from (Text(part, style="underline") for part in wrap(heading, CHARS, break_on_hyphens=False))
        yield from (_line(row) for row in rows.iter_rows(named=True))
    if _excluded(judged):
        yield Text(FOOTNOTE)
    if judged["certain"].any():
        yield Text(
            f"{CERTAIN} the sender cannot miss it: only a loss ends its slow start, and the queue is full before"
        )
    names = claims.filter(why=NOT_RUN)["scenario"].unique(maintain_order=True).to_list()
    yield from map(Text, not_run(names, width))


def reasons(claims: pl.DataFrame, width: int) -> Iterator[str]:
    """Yield what differs, by how much, and why as far as runs show it; rows of one scenario and reason are together."""
    given = claims.filter(pl.col("why").is_not_null(), pl.col("why") != NOT_RUN)
    for (verdict, scenario, why), rows in given.group_by(["verdict", "scenario", "why"], maintain_order=True):
        yield f"{verdict}: {scenario}"
        for row in rows.iter_rows(named=True):
            value = compared(row)
            yield from _indented(f"{row['row']}, {row['metric']}{f': {value}' if value else ''}", width)
        yield from _indented(f"why: {why}", width)


def counted(claims: pl.DataFrame, width: int) -> Iterator[str]:
    """Yield the number of rows of each verdict, and of those that agree, how many lie in our interval."""
    found = dict(claims["verdict"].value_counts().iter_rows())
    yield from wrap("; ".join(f"{found.get(name, 0)} {words}" for name, words in verdicts.COUNTED.items()), width)
    agreeing = found.get(verdicts.AGREES, 0)
    certain = claims.filter("certain", verdict=verdicts.AGREES).height
    yield f"of the {agreeing} that agree, {agreeing - _excluded(claims)} published values lie in our 95 % interval"
    yield f"of the {agreeing} that agree, {certain} could not differ: what ends the sender's slow start decides them"
    yield from wrap(_by_truths(claims), width)


def _by_truths(claims: pl.DataFrame) -> str:
    """Return how many shares depend on which truth counts as capacity."""
    shares = claims.filter(pl.col("metric").is_in(SHARES)).drop_nulls(["ours_true", "ours_lasting"])
    moved = shares.filter((pl.col("ours_true") - pl.col("ours_lasting")).abs() > 0)
    rows = ", ".join(f"{row['id']} {row['ours_true']:.0f}/{row['ours_lasting']:.0f}" for row in moved.to_dicts())
    listed = f": {rows}" if rows else ""
    return f"{moved.height} of {shares.height} shares differ by the two truths (one round trip/lasting, %){listed}"


def clocks(claims: pl.DataFrame) -> Iterator[str]:
    """Yield the event from which each source counts its times."""
    timed = claims.filter(pl.col("clock").is_not_null())
    for (clock,), of_clock in timed.group_by(["clock"], maintain_order=True):
        sources = ", ".join(of_clock["document"].unique(maintain_order=True))
        yield f"times count from {CLOCKS[str(clock)]} in: {sources}, and so do ours"


def _line(row: dict[str, Any]) -> Text:
    word, style = SHOWN[row["verdict"]]
    verdict = word + (EXCLUDED if _is_excluded(row) else "") + (CERTAIN if row["certain"] else "")
    published = f"{row['published']:g}"
    paper = SIGNS.get(row["bound"], "") + (published if len(published) <= 6 else _brief(row["published"]))
    trials = str(row["trials"]) if row["ours"] is not None else ""
    within = f"\N{PLUS-MINUS SIGN}{_brief(row['tolerance'])}" if row["tolerance"] else "[95 %]"
    cells = (row["metric"], paper, within, _ours(row), trials, signed(row))
    return Text.assemble(_aligned((*cells, "")), (verdict, style))


def _aligned(cells: Cells) -> str:
    """Join cells to a line: every width but the last, of the verdict, is fixed."""
    metric, paper, within, ours, trials, differs, verdict = cells
    return f"{metric:<17} {paper:>6} {within:>7} {ours:<23} {trials:>4} {differs:>8} {verdict}"


def _ours(row: dict[str, Any]) -> str:
    if row["ours"] is None:
        return ""
    interval = "" if row["lo"] is None or row["hi"] is None else f" [{_brief(row['lo'])}, {_brief(row['hi'])}]"
    return _brief(row["ours"]) + interval


def _brief(value: float) -> str:
    """Return a number in at most six characters, seven with its sign."""
    return f"{value:.2g}" if 0 < abs(value) < TINY else short(value)


def _is_excluded(row: dict[str, Any]) -> bool:
    return row["verdict"] == verdicts.AGREES and not of_claim(row).interval_contains


def _excluded(claims: pl.DataFrame) -> int:
    return sum(_is_excluded(row) for row in claims.iter_rows(named=True))


def not_run(names: Sequence[str], width: int) -> list[str]:
    """Return which scenarios have not run, and the command that runs them."""
    if not names:
        return []
    command = f"run them: lab reproduce {' '.join(names) if len(names) <= FEW else ''}".rstrip()
    return [*wrap(f"{NOT_RUN}: {', '.join(names)}", width, break_on_hyphens=False), *wrap(command, width)]


def _indented(text: str, width: int) -> list[str]:
    return wrap(text, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


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
            raise field_error(COMMAND_LINE, field, given, "absent with --coverage, which lists all")
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
    from lab_papers.evaluation.write import NO_REPLAY, judge_claims  # slow to import, and mostly not needed
    from lab_papers.search_replay import replay_library

    library = replay_library()
    claims, faults = judge_claims(results, library, wanted)
    notes = [] if library else [NO_REPLAY]
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
