# SPDX-License-Identifier: GPL-2.0-or-later
"""The two tables of every form of the report: classes of exits (thesis table 5.3) and times (table 5.1).

All cells are text already: a mean with its standard deviation as "13.7 (1.7)", a share with its 95 %
interval as "93.5 [84-98]", a dash for what does not exist.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from lab.base.format import AT_LEAST, NONE, mean, number, share
from lab.judge.clock import from_data
from lab.judge.registry import label
from lab.report.published import ran

CLASS_HEADER = ("Judged by", "Valid trials", "Early (%)", "Chokepoint (%)", "Late (%)", "Capacity (s)", "from data (s)")
TIME_HEADER = ("Source", "Exit (s)", "First loss (s)", "Throughput (Mb/s)", "Retransmits (pkts)")


FIGURE = re.compile(rf"[\d+\-{NONE}{AT_LEAST}]")  # how a cell with a number, or without its value, begins


@dataclass(frozen=True)
class Row:
    """One line: the cells under the header; published rows come from a paper."""

    cells: tuple[str, ...]
    published: bool = False


@dataclass(frozen=True)
class Group:
    """The lines of one sender."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """A table with one group of lines per sender."""

    name: str
    caption: str
    header: tuple[str, ...]
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = ()  # sentences below it
    group_header: str = "Sender"

    @property
    def labels(self) -> int:
        """Return how many columns after the sender's hold names: 0 where the first one holds figures, too."""
        return int(not all(FIGURE.match(row.cells[0]) for group in self.groups for row in group.rows))


def short(cell: str) -> str:
    """Leave the interval or the spread of a cell out, and keep its star."""
    value = cell.split(" [")[0].split(" (")[0].split(", ")[0]
    return value if value.endswith("*") or not cell.endswith("*") else f"{value}*"


def tables(
    summary: pl.DataFrame, ccas: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]]
) -> tuple[Table, Table]:
    """Both tables, senders in the scenario's order, published values below ours."""
    classes, times = [], []
    for stanza in ccas:
        ours = summary.filter(cca=stanza["name"]).to_dicts()
        theirs = [row for row in published if row["cca"] == stanza["name"]]
        classes.append(Group(stanza["label"], _class_rows(ours, theirs)))
        times.append(Group(stanza["label"], _time_rows(ours, theirs)))
    clocks = BOTH_CLOCKS if any(FROM_DATA in row.cells for group in times for row in group.rows) else ""
    return (
        Table("classes", CLASS_CAPTION, CLASS_HEADER, tuple(classes)),
        Table("times", f"{TIME_CAPTION}{clocks}.", TIME_HEADER, tuple(times)),
    )


CLASS_CAPTION = (
    "Where senders leave slow start: before the capacity (early), after it and before any loss (chokepoint), "
    "or upon loss (late). Percent of the judged trials with 95 % Wilson interval; capacity as mean (sd), from the SYN "
    "and from the first data segment."
)
TIME_CAPTION = (
    "When senders leave slow start and what it costs, as mean (sd) over the valid trials ('in 3': over 3 of them that "
    "had it). Our times count from the SYN"
)
FROM_DATA = "this run, from the data"
BOTH_CLOCKS = ", and again from the first data segment, as published times do unless their row names another clock"


def valid_text(row: Mapping[str, Any]) -> str:
    """Return the valid trials of all, and whether they are one: all the same, packet for packet."""
    same = ": all the same, one" if row["distinct"] < row["valid"] else ""
    return f"{row['valid']} of {row['trials']}{same}"


def _class_rows(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    judged_by = ((label(row["heuristic"]), row) for row in ours)
    rows = [Row((name, _trials(row), *_classes(row), *_capacities(row))) for name, row in judged_by]
    for row in theirs:
        given, none = mean(row, "capacity_s", 1), number(None, 0)
        capacities = (given, none) if row.get("clock") == "syn" else (none, given)
        rows.append(Row((_source(row), number(row.get("trials"), 0), *_classes(row), *capacities), published=True))
    return tuple(rows)


def _time_rows(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    # Exit, loss and costs are the same whatever the heuristic: any of the rows has them.
    rows = [Row(("this run", *_times(row))) for row in ours[:1]]
    timed = [row for row in theirs if any(row.get(name) is not None for name in ("exit_s", "loss_s"))]
    if any(row.get("clock") != "syn" for row in timed):
        rows += [Row((FROM_DATA, *_times(_shifted(row)))) for row in ours[:1]]
    clocked = ((row, ", from the SYN" if row.get("clock") == "syn" else "") for row in timed)
    return (*rows, *(Row((_source(row) + clock, *_times(row)), published=True) for row, clock in clocked))


def _shifted(row: Mapping[str, Any]) -> Mapping[str, float | None]:
    """Return the times of a sender that count from the first data segment; costs stand in the row above."""
    times = {name + end: row[from_data(name) + end] for name in ("exit_s", "loss_s") for end in ("", "_sd")}
    return {**times, **{name: row[name] for name in ("distinct", "exit_trials", "loss_trials")}}


def _source(row: Mapping[str, Any]) -> str:
    """Name a published row's source, and the version that it ran where that is not the sender's."""
    version = ran(str(row["source"]), str(row["cca"]))
    return f"{row['source']}, {version}" if version else str(row["source"])


def _classes(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(share(row, name) for name in ("early", "chokepoint", "late"))


def _times(row: Mapping[str, Any]) -> tuple[str, ...]:
    digits = {"exit_s": 1, "loss_s": 1, "throughput_mbps": 1, "retransmits_pkts": 0}
    return tuple(mean(row, name, count) + _found(row, name) for name, count in digits.items())


def _found(row: Mapping[str, Any], name: str) -> str:
    """Return in how many trials an event happened, where not in all or none: its mean is over these."""
    trials = row.get(f"{name.removesuffix('_s')}_trials", 0)
    return "" if trials in (0, row.get("distinct")) else f" in {trials}"


def _trials(row: Mapping[str, Any]) -> str:
    """Return the valid trials of all; and how many of them have a class, where not all do."""
    judged = "" if row["judged"] in (row["valid"], row["distinct"]) else f", {row['judged']} judged"
    return valid_text(row) + judged


def _capacities(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the mean on both clocks, and in how many trials the capacity was found, where not in all."""
    return mean(row, "capacity_s", 1) + _found(row, "capacity_s"), mean(row, from_data("capacity_s"), 1)
