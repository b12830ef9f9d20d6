# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the places agree? Runs of one scenario in several places, each against the first in percent."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from lab.base.errors import UserError
from lab.base.format import NONE
from lab.judge.judged import judged
from lab.report.table import Group, Row, Table
from lab.tables.stored_run import Run

QUANTITIES = {
    "capacity_s": ("Capacity (s)", 2),
    "exit_s": ("Exit (s)", 2),
    "loss_s": ("First loss (s)", 2),
    "throughput_mbps": ("Throughput (Mb/s)", 1),
}
FIRST = "virtual/netns"


@dataclass(frozen=True)
class PlaceRun:
    """The latest complete run of a place: the outcomes of its trials by one rule."""

    place: str
    kernel: str
    outcomes: pl.DataFrame


def latest(folder: Path) -> list[Run]:
    """Find the latest complete run of each place below results/<scenario>, of the runs with the same digests.

    The virtual kernel's comes first; UserError where it is missing.
    """
    runs = [run for run in (Run(file.parent) for file in sorted(folder.glob("[0-9]*/run.json"))) if run.complete]
    first = next((run for run in reversed(runs) if _place(run) == FIRST), None)
    if first is None:
        raise UserError(f"{folder}: must hold a complete run of {FIRST}, to compare the others with: run it first")
    same = {_place(run): run for run in runs if run.meta["digests"] == first.meta["digests"]}
    return [first, *(same[place] for place in sorted(same) if place != FIRST)]


def place_run(run: Run, outcomes: pl.DataFrame) -> PlaceRun:
    """Describe a run whose trials were judged by one rule."""
    return PlaceRun(_place(run), run.meta["kernel"]["kernel_source"], outcomes)


def judged_by(run: Run, heuristic: str) -> pl.DataFrame:
    """Return the outcomes of a run's trials by a rule; UserError where a trial is damaged."""
    found = judged(run)
    if found.faults:
        raise UserError(found.faults[0])
    return found.outcomes.filter(pl.col("heuristic") == heuristic)


def _place(run: Run) -> str:
    return f"{run.meta['backend']}/{run.meta['engine']}"


def table(runs_by_place: list[PlaceRun]) -> Table:
    """Build the comparison: one group per sender and one line per place. Means leave invalid trials out."""
    senders = runs_by_place[0].outcomes["cca"].unique(maintain_order=True)
    header = ("Place", "Valid trials", "Class", *(words for words, _ in QUANTITIES.values()))
    groups = tuple(
        Group(sender, tuple(_row(sender, place, runs_by_place[0]) for place in runs_by_place)) for sender in senders
    )
    kernels = dict.fromkeys(place.kernel for place in runs_by_place)
    notes = (
        f"{kernel}: {', '.join(each.place for each in runs_by_place if each.kernel == kernel)}." for kernel in kernels
    )
    return Table("agree", f"The same trials in {len(runs_by_place)} places", header, groups, tuple(notes))


def _row(sender: str, place: PlaceRun, first: PlaceRun) -> Row:
    mine, theirs = _of(place, sender), _of(first, sender)
    valid = mine.filter(pl.col("valid"))
    cells = [_cell(valid, theirs, name, digits, place is first) for name, (_, digits) in QUANTITIES.items()]
    classes = ", ".join(sorted(set(valid["exit_class"].drop_nulls()))) or NONE
    return Row((place.place, f"{valid.height} of {mine.height}", classes, *cells))


def _of(place: PlaceRun, sender: str) -> pl.DataFrame:
    return place.outcomes.filter(pl.col("cca") == sender)


def _cell(mine: pl.DataFrame, theirs: pl.DataFrame, name: str, digits: int, is_first: bool) -> str:
    """Format a mean, and below it its difference from the first place's over the trials that are valid in both."""
    mean = mine[name].mean()
    if not isinstance(mean, float):
        return NONE
    both = mine.join(theirs.filter(pl.col("valid")), on="trial", suffix="_first").drop_nulls([name, f"{name}_first"])
    if is_first or both.is_empty():
        return f"{mean:.{digits}f}"
    here, there = both[name].mean(), both[f"{name}_first"].mean()
    assert isinstance(here, float)
    assert isinstance(there, float)
    return f"{mean:.{digits}f}\n{100 * (here - there) / there:+.1f} %"
